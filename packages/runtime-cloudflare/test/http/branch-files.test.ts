// A branch in another object, with the files of its checkpoint.
import { runDurableObjectAlarm } from 'cloudflare:test'
import { type Agent, defineAgent } from '@helix-agents/core'
import type { WorkspaceProvider } from '@helix-agents/core/provider'
import { InMemoryWorkspaceProvider } from '@helix-agents/workspace-memory'
import { unpackTar } from 'modern-tar'
import { afterEach, expect, test } from 'vitest'
import { clockError, createGate, type Gate, say, type Script, scripts, use } from '../scripts.ts'
import { crash, createSession, inObject, type TestSession } from '../session.ts'

afterEach(() => {
  clockError.ms = 0
})

const agentsWith = (kind: string) => (): readonly Agent[] => [
  defineAgent({
    name: 'tested',
    llmConfig: { model: 'scripted' },
    workspaces: {
      box: {
        provider: { kind },
        capabilities: { fs: true },
        history: 'step',
      },
      unused: { provider: { kind: 'in-memory' }, capabilities: { fs: true }, history: 'step' },
    },
  }),
]

const agents = agentsWith('cloudflare-filestore')

/** Larger than a row and than a block of the archive. */
const large = 'large '.repeat(60_000)
const contents = ['one', large]

async function createSource(): Promise<TestSession & { readonly points: readonly string[] }> {
  const session = createSession({
    agents,
    brain: ({ length }) => {
      const content = contents[(length - 1) / 2]
      if (content === undefined) return say('done')
      return use('workspace__box__write_file', { path: '/d/a', content }, `call-${length}`)
    },
  })
  await session.post('/start', { message: 'Write.' })
  expect(await session.ended()).toBe('completed')
  const { items } = (await session.get('/checkpoints')).body
  return { ...session, points: items.map(({ id }: { readonly id: string }) => id).toReversed() }
}

/** Reads the file when it is asked. */
const reader: Script = {
  agents,
  brain: (messages) =>
    messages.at(-1)?.role === 'user'
      ? use('workspace__box__read_file', { path: '/d/a' }, `read-${messages.length}`)
      : say('read'),
}

/** Its files are written into a backend that takes its time. */
function stuckAt(gate: Gate): Script {
  const provider: WorkspaceProvider = Object.assign(
    Object.create(new InMemoryWorkspaceProvider()),
    {
      providerId: 'stuck',
      parseConfig: () => ({ kind: 'stuck' }),
      open: async () => {
        await gate.pass()
        throw new Error('the instance goes on after its end')
      },
      history: undefined,
    },
  )
  return { ...reader, agents: agentsWith('stuck'), providers: () => [provider] }
}

/** Its object is ended while the files are written. */
async function cutOff(source: TestSession): Promise<TestSession> {
  const gate = createGate()
  const branch = createSession(stuckAt(gate))
  const asked = source.post('/branch', { sessionId: branch.id, files: 'checkpoint' })
  await gate.begun
  await crash()
  expect((await asked).status).toBeGreaterThanOrEqual(500)
  scripts.set(branch.id, reader)
  return branch
}

async function readIn(branch: TestSession): Promise<string> {
  expect((await branch.post('/message', { message: 'Read it.' })).status).toBe(202)
  expect(await branch.ended()).toBe('completed')
  const result = (await branch.messages()).findLast(({ role }) => role === 'tool')
  return JSON.stringify(result?.content)
}

/** Rows of what files pass through on their way, and of namespaces. */
const leftIn = (session: TestSession) =>
  inObject(session, ({ storage }) => {
    const count = (table: string): number => {
      const named = storage.sql.exec('SELECT 1 FROM sqlite_master WHERE name = ?', table).toArray()
      return named.length === 0 ? 0 : storage.sql.exec(`SELECT 1 FROM ${table}`).toArray().length
    }
    const stages = [...storage.kv.list({ prefix: 'helix:branch-files:' })].length
    return {
      blocks: count('helix_snapshot_blocks'),
      namespaces: count('helix_fs_namespaces'),
      stages,
    }
  })

test.each([
  ['the checkpoint that is named', 0, 'one'],
  ['the newest checkpoint', undefined, 'large large'],
])('begins with the files of %s, and goes on from them', async (_, index, expected) => {
  const source = await createSource()
  const branch = createSession(reader)
  const checkpointId = index === undefined ? {} : { checkpointId: source.points[index] }
  const body = { sessionId: branch.id, files: 'checkpoint', ...checkpointId }
  const answer = await source.post('/branch', body)
  expect(answer).toMatchObject({ status: 201, body: { sessionId: branch.id } })
  expect(await readIn(branch)).toContain(expected)
  expect(await leftIn(branch)).toMatchObject({ blocks: 0, stages: 0 })
  // The source has what it had.
  const tar = await source.fetch(`/files?checkpointId=${source.points[1]}&workspace=box`)
  const files = await unpackTar(await tar.arrayBuffer())
  expect(files.map(({ header }) => header.name)).toContain('d/a')
  expect(await source.post('/branch', body)).toMatchObject({
    status: 409,
    body: { error: { code: 'session-exists' } },
  })
})

test('an eviction while the files are written leaves no session, and the next try makes it whole', async () => {
  const source = await createSource()
  const branch = await cutOff(source)
  const body = { sessionId: branch.id, files: 'checkpoint' }
  expect((await branch.get('/state')).status).toBe(404)
  expect((await leftIn(branch)).stages).toBe(1)
  expect((await source.post('/branch', body)).status).toBe(201)
  expect(await readIn(branch)).toContain('large large')
  expect(await leftIn(branch)).toMatchObject({ blocks: 0, stages: 0 })
})

test('what came for a branch that was never made is removed', async () => {
  const source = await createSource()
  const branch = await cutOff(source)
  expect((await leftIn(branch)).blocks).toBeGreaterThan(0)
  // Too early: the request may still be under way.
  await runDurableObjectAlarm(branch.stub)
  expect((await leftIn(branch)).blocks).toBeGreaterThan(0)
  clockError.ms = 2 * 3_600_000
  await runDurableObjectAlarm(branch.stub)
  expect(await leftIn(branch)).toEqual({ blocks: 0, namespaces: 0, stages: 0 })
})

test('what an eviction has left once the branch was made is removed as well', async () => {
  const source = await createSource()
  const branch = createSession(reader)
  const body = { sessionId: branch.id, files: 'checkpoint' }
  expect((await source.post('/branch', body)).status).toBe(201)
  await inObject(branch, ({ storage }) => {
    storage.kv.put('helix:branch-files:x', { at: Date.now(), snapshots: {} })
  })
  // A run sets the alarm of the object anew.
  expect(await readIn(branch)).toContain('large large')
  await runDurableObjectAlarm(branch.stub)
  expect((await leftIn(branch)).stages).toBe(1)
  clockError.ms = 2 * 3_600_000
  await runDurableObjectAlarm(branch.stub)
  expect((await leftIn(branch)).stages).toBe(0)
  expect(await readIn(branch)).toContain('large large')
})

test.each([
  [{ checkpointId: 'cpv1-other-s1-t1-ffffff' }, 404, 'not-found'],
  [{ files: 'now' }, 400, 'invalid-request'],
])('with %j is %i %s, and nothing is made', async (given, status, code) => {
  const source = await createSource()
  const branch = createSession(reader)
  const body = { sessionId: branch.id, files: 'checkpoint', ...given }
  expect(await source.post('/branch', body)).toMatchObject({ status, body: { error: { code } } })
  expect((await branch.get('/state')).status).toBe(404)
})
