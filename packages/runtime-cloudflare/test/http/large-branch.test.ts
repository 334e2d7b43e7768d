// A branch in another object, with thousands of files.
import { runDurableObjectAlarm } from 'cloudflare:test'
import { type Agent, defineAgent, defineTool } from '@helix-agents/core'
import type { FileSystem, Workspace, WorkspaceProvider } from '@helix-agents/core/provider'
import { CloudflareFileStoreWorkspaceProvider } from '@helix-agents/workspace-cloudflare-filestore'
import { afterEach, expect, test, vi } from 'vitest'
import { STAGE_PARAM, WORKSPACE_PARAM } from '../../src/http/branch-files.ts'
import { toObjectRequest } from '../../src/route/object-request.ts'
import { clockError, createGate, type Gate, say, type Script, scripts, use } from '../scripts.ts'
import { crash, createSession, inObject, type TestSession } from '../session.ts'

/** How many files the workspaces of a test have: together 20 MB, or what is enough to be half-way. */
const all = { files: 0 }
const MANY = 2_000
const ENOUGH = 800
const FILE_BYTES = 10_000
const TIMEOUT_MS = 600_000

afterEach(() => {
  clockError.ms = 0
})

const pathOf = (n: number): string => `/d${n % 40}/file-${n}.bin`

/** Other bytes in each file. */
function contentOf(n: number): Uint8Array {
  const bytes = new Uint8Array(FILE_BYTES).map((_, at) => (at * 31 + n * 17) & 255)
  new DataView(bytes.buffer).setUint32(0, n)
  return bytes
}

async function fill(fs: FileSystem): Promise<void> {
  for (let n = 0; n < all.files; n += 1) await fs.writeFile(pathOf(n), contentOf(n))
}

/** How many files are as they were written. */
async function countEqual(fs: FileSystem): Promise<number> {
  let equal = 0
  for (let n = 0; n < all.files; n += 1) {
    const [found, expected] = [await fs.readFile(pathOf(n)), contentOf(n)]
    if (found.every((byte, at) => byte === expected[at])) equal += 1
  }
  return equal
}

const toolOf = (name: string, work: (fs: FileSystem) => Promise<unknown>) =>
  defineTool({
    name,
    description: 'Works on all files.',
    inputSchema: { type: 'object' },
    execute: (_, { workspaces }) =>
      workspaces.use('box', async ({ live: { fs } }) => {
        if (fs === undefined) throw new Error('no files')
        return String(await work(fs))
      }),
  })

const agentsWith = (kind: string) => (): readonly Agent[] => [
  defineAgent({
    name: 'tested',
    llmConfig: { model: 'scripted' },
    tools: [toolOf('fill', fill), toolOf('count', countEqual)],
    workspaces: { box: { provider: { kind }, capabilities: { fs: true }, history: 'step' } },
  }),
]

const scriptOf = (kind: string): Script => ({
  agents: agentsWith(kind),
  brain: (messages) => {
    const { role, content } = messages.at(-1) ?? {}
    return role === 'user' ? use(content === 'Fill.' ? 'fill' : 'count') : say('done')
  },
})
const script = scriptOf('cloudflare-filestore')

async function createSource(files: number): Promise<TestSession> {
  all.files = files
  const session = createSession(script)
  await session.post('/start', { message: 'Fill.' })
  expect(await session.ended()).toBe('completed')
  return session
}

async function countIn(branch: TestSession): Promise<string> {
  expect((await branch.post('/message', { message: 'Count.' })).status).toBe(202)
  expect(await branch.ended()).toBe('completed')
  const result = (await branch.messages()).findLast(({ role }) => role === 'tool')
  return JSON.stringify(result?.content)
}

/** Rows of what files pass through on their way, and of namespaces. */
const leftIn = (session: TestSession) =>
  inObject(session, ({ storage }) => {
    const count = (table: string): number => {
      const named = storage.sql.exec('SELECT 1 FROM sqlite_master WHERE name = ?', table).toArray()
      if (named.length === 0) return 0
      return Number(storage.sql.exec(`SELECT count(*) AS n FROM ${table}`).one()['n'])
    }
    const stages = [...storage.kv.list({ prefix: 'helix:branch-files:' })].length
    const [blocks, namespaces] = ['helix_snapshot_blocks', 'helix_fs_namespaces'].map(count)
    return { blocks, namespaces, stages }
  })

/** The file store, whose files come to a gate half-way. */
function gatedStore(gate: Gate): Script {
  let written = 0
  const gated = (fs: FileSystem): FileSystem =>
    new Proxy(fs, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name)
        if (typeof value !== 'function') return value
        const method = value.bind(target) as (...args: unknown[]) => unknown
        if (name !== 'writeFile') return method
        return async (...args: unknown[]) => {
          written += 1
          if (written > ENOUGH / 2) await gate.pass()
          return method(...args)
        }
      },
    })
  const providers = (storage: DurableObjectStorage): readonly WorkspaceProvider[] => {
    const inner = new CloudflareFileStoreWorkspaceProvider({ storage })
    const open: WorkspaceProvider['open'] = async (config, owner, options) => {
      const opened = await inner.open({ ...config, kind: inner.providerId }, owner, options)
      const { ws } = opened
      const files = ws.fs && gated(ws.fs)
      const get = (target: Workspace, name: string | symbol): unknown => {
        if (name === 'fs') return files
        const value: unknown = Reflect.get(target, name)
        return typeof value === 'function' ? value.bind(target) : value
      }
      return { ...opened, ws: new Proxy(ws, { get }) }
    }
    const parts = { providerId: 'gated', parseConfig: () => ({ kind: 'gated' }), open }
    return [Object.assign(Object.create(inner) as WorkspaceProvider, parts)]
  }
  return { ...scriptOf('gated'), providers }
}

test('every file is there, and nothing of the way', { timeout: TIMEOUT_MS }, async () => {
  const source = await createSource(MANY)
  const branch = createSession(script)
  const body = { sessionId: branch.id, files: 'checkpoint' }
  expect((await source.post('/branch', body)).status).toBe(201)
  expect(await countIn(branch)).toContain(String(MANY))
  expect(await leftIn(branch)).toMatchObject({ blocks: 0, stages: 0 })
  expect(await countIn(source)).toContain(String(MANY))
})

test(
  'an eviction half-way through the writing leaves no session, and the next try makes it whole',
  { timeout: TIMEOUT_MS },
  async () => {
    const source = await createSource(ENOUGH)
    const gate = createGate()
    const branch = createSession(gatedStore(gate))
    const body = { sessionId: branch.id, files: 'checkpoint' }
    const asked = source.post('/branch', body)
    await gate.begun
    await crash()
    expect((await asked).status).toBeGreaterThanOrEqual(500)
    scripts.set(branch.id, script)
    expect((await branch.get('/state')).status).toBe(404)
    expect(await leftIn(branch)).toMatchObject({ blocks: ENOUGH, stages: 1 })
    expect((await source.post('/branch', body)).status).toBe(201)
    expect(await countIn(branch)).toContain(String(ENOUGH))
    expect(await leftIn(branch)).toEqual({ blocks: 0, namespaces: 2, stages: 0 })
  },
)

test(
  'an eviction half-way through the sending leaves no session, and what came is removed',
  { timeout: TIMEOUT_MS },
  async () => {
    const source = await createSource(ENOUGH)
    const { items } = (await source.get('/checkpoints')).body
    const tar = await source.fetch(`/files?checkpointId=${items[0].id}&workspace=box`)
    const bytes = new Uint8Array(await tar.arrayBuffer())
    const branch = createSession(script)
    const half = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(bytes.subarray(0, bytes.length / 2)),
    })
    const query = new URLSearchParams({ [STAGE_PARAM]: 's', [WORKSPACE_PARAM]: 'box' })
    const bring = toObjectRequest(
      new Request(`${branch.url('/start')}?${query}`, { method: 'POST', body: half }),
      '/start',
      { sessionId: branch.id, agent: 'tested', base: '/', caller: {}, isSeed: true },
    )
    const sending = Promise.allSettled([branch.stub.fetch(bring)])
    await vi.waitFor(async () => expect((await leftIn(branch)).blocks).toBeGreaterThan(100), {
      timeout: 60_000,
    })
    await crash()
    expect(await sending).toMatchObject([{ status: 'rejected' }])
    expect((await branch.get('/state')).status).toBe(404)
    clockError.ms = 2 * 3_600_000
    await runDurableObjectAlarm(branch.stub)
    expect(await leftIn(branch)).toEqual({ blocks: 0, namespaces: 0, stages: 0 })
  },
)
