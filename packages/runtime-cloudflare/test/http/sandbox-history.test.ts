// The routes of a history on a session whose files are in a sandbox.
import { type Agent, defineAgent } from '@helix-agents/core'
import { portableSnapshots } from '@helix-agents/core/provider'
import { DOSnapshotStore } from '@helix-agents/store-cloudflare'
import { runDurableObjectAlarm } from 'cloudflare:test'
import { unpackTar } from 'modern-tar'
import { afterEach, expect, test } from 'vitest'
import { clockError, createGate, say, type Script, use } from '../scripts.ts'
import { crash, createSession, storedIn, type TestSession } from '../session.ts'
import { createSandboxWorld, sandboxesOf, type SandboxWorld } from './sandbox-double.ts'

/** How a sandbox has its history: in a store of snapshots, or as backups of the container. */
type Way = 'portable' | 'backups'
const ways: readonly Way[] = ['portable', 'backups']

const agentsFor = (way: Way) => (): readonly Agent[] => [
  defineAgent({
    name: 'tested',
    llmConfig: { model: 'scripted' },
    workspaces: {
      box: {
        provider: {
          kind: 'cloudflare-sandbox',
          ...(way === 'backups' && { backupR2Binding: 'BACKUP_BUCKET' }),
        },
        capabilities: { fs: true },
        history: 'step',
      },
    },
  }),
]

const scriptFor = (way: Way, world: SandboxWorld): Script => ({
  agents: agentsFor(way),
  providers: (storage) => {
    const sandboxes = sandboxesOf(world)
    if (way === 'backups') return [sandboxes]
    return [portableSnapshots(sandboxes, { store: new DOSnapshotStore(storage) })]
  },
  brain: (messages) => {
    const asked = messages.findLast(({ role }) => role === 'user')
    const done = messages.slice(asked === undefined ? 0 : messages.lastIndexOf(asked)).length
    const id = `call-${messages.length}`
    if (asked?.content === 'Read.') {
      return done === 1 ? use('workspace__box__read_file', { path: '/d/a' }, id) : say('read')
    }
    const content = ['one', 'two'][(done - 1) / 2]
    if (content === undefined) return say('written')
    return use('workspace__box__write_file', { path: '/d/a', content }, id)
  },
})

afterEach(() => {
  clockError.ms = 0
})

interface Played extends TestSession {
  readonly points: readonly string[]
  readonly world: SandboxWorld
}

async function play(way: Way): Promise<Played> {
  const world = createSandboxWorld()
  const session = createSession(scriptFor(way, world))
  await session.post('/start', { message: 'Write.' })
  expect(await session.ended()).toBe('completed')
  const { items } = (await session.get('/checkpoints')).body
  const points = items.map(({ id }: { readonly id: string }) => id).toReversed()
  return { ...session, points, world }
}

async function readIn(session: TestSession): Promise<string> {
  expect((await session.post('/message', { message: 'Read.' })).status).toBe(202)
  expect(await session.ended()).toBe('completed')
  const result = (await session.messages()).findLast(({ role }) => role === 'tool')
  return JSON.stringify(result?.content)
}

async function filesOf(session: TestSession, checkpointId = ''): Promise<unknown> {
  const response = await session.fetch(`/files?checkpointId=${checkpointId}`)
  const entries = await unpackTar(await response.arrayBuffer(), { strict: true })
  return entries.flatMap(({ header, data }) =>
    header.name === 'd/a' ? [new TextDecoder().decode(data)] : [],
  )
}

test.each(ways)('files go back, are compared and downloaded: %s', async (way) => {
  const { points, world, ...session } = await play(way)
  const [first, second] = points
  const diff = (await session.get(`/diff?from=${first}`)).body
  expect(diff.workspaces).toMatchObject([{ changes: [{ path: '/d/a', change: 'changed' }] }])
  expect(await filesOf(session, first)).toEqual(['one'])
  expect(await filesOf(session, second)).toEqual(['two'])

  const before = [...world.containers.keys()]
  const restored = await session.post('/restore', { checkpointId: first, files: true })
  expect(restored.status).toBe(202)
  expect((await session.get(`/diff?from=${first}`)).body.workspaces).toMatchObject([{ total: 0 }])
  expect(await readIn(session)).toContain('one')
  expect([...world.containers.keys()]).not.toEqual(before)
})

test.each(ways)(
  'an eviction while the files come back changes nothing, and they come back after it: %s',
  async (way) => {
    const { points, world, ...session } = await play(way)
    const [checkpointId] = points
    const known = new Set(world.containers.keys())
    const gate = createGate()
    world.onCall = ({ sandboxId }) => (known.has(sandboxId) ? undefined : gate.pass())
    const asked = session.post('/restore', { checkpointId, files: true })
    await gate.begun
    await crash()
    expect((await asked).status).toBeGreaterThanOrEqual(500)
    world.onCall = () => {}
    expect(await readIn(session)).toContain('two')
    const again = await session.post('/restore', { checkpointId, files: true })
    expect(again.status).toBe(202)
    expect(await readIn(session)).toContain('one')
    // What the instance had begun is ended: one is new.
    expect([...world.containers.keys()].filter((id) => !known.has(id))).toHaveLength(1)
  },
)

test.each(ways)('a branch has a sandbox of its own with the files: %s', async (way) => {
  const { points, world, ...session } = await play(way)
  const branch = createSession(scriptFor(way, world))
  const body = { sessionId: branch.id, files: 'checkpoint', checkpointId: points[0] }
  expect((await session.post('/branch', body)).status).toBe(201)
  expect(await readIn(branch)).toContain('one')
  expect(await readIn(session)).toContain('two')
})

interface LeftBranch {
  readonly session: TestSession
  readonly branch: TestSession
  readonly body: object
  readonly world: SandboxWorld
  /** Containers that there were before. */
  readonly before: readonly string[]
}

/** A branch whose object is evicted while its sandbox is filled. */
async function evicted(way: Way): Promise<LeftBranch> {
  const { world, ...session } = await play(way)
  const before = [...world.containers.keys()]
  const branch = createSession(scriptFor(way, world))
  const body = { sessionId: branch.id, files: 'checkpoint' }
  const gate = createGate()
  world.onCall = ({ sandboxId }) => {
    // Those that the source makes to read its files have the name of its own.
    const isOfBranch = !before.some((id) => sandboxId.startsWith(id))
    return isOfBranch && world.containers.has(sandboxId) ? gate.pass() : undefined
  }
  const asked = session.post('/branch', body)
  await gate.begun
  await crash()
  expect((await asked).status).toBeGreaterThanOrEqual(500)
  world.onCall = () => {}
  return { session, branch, body, world, before }
}

test.each(ways)(
  'a sandbox of a branch that was evicted is ended by the next try: %s',
  async (way) => {
    const { session, branch, body, world, before } = await evicted(way)
    expect((await session.post('/branch', body)).status).toBe(201)
    expect(await readIn(branch)).toContain('two')
    expect([...world.containers.keys()].filter((id) => !before.includes(id))).toHaveLength(1)
  },
)

test.each(ways)('and by the object itself when nobody tries again: %s', async (way) => {
  const { branch, world, before } = await evicted(way)
  expect((await branch.get('/state')).status).toBe(404)
  clockError.ms = 2 * 3_600_000
  await runDurableObjectAlarm(branch.stub)
  expect([...world.containers.keys()]).toEqual(before)
  expect(await storedIn(branch)).toEqual({ tables: [], keys: [], alarm: null })
})

test.each(ways)('a session that is removed leaves no sandbox and no backup: %s', async (way) => {
  const { points, world, ...session } = await play(way)
  await session.post('/restore', { checkpointId: points[0], files: true })
  expect(await readIn(session)).toContain('one')
  const [used] = [...world.containers.keys()].slice(-1)
  expect((await session.fetch('', { method: 'DELETE' })).status).toBe(204)
  // It was not declared with `destroyOnClose`.
  expect([[...world.containers.keys()], [...world.backups.keys()]]).toEqual([[used], []])
})
