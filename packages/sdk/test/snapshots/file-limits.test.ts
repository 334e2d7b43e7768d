// A file that a place may not or cannot hold: the error names it, nothing is switched, and nothing of it
// stays.
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  defineAgent,
  MockLLMAdapter,
  type MockStep,
  noopLogger,
  systemClock,
} from '@helix-agents/core'
import {
  type FileSystem,
  fileSystemConfigSchema,
  portableSnapshots,
  restoreSnapshot,
  takeSnapshot,
  type WorkspaceProvider,
} from '@helix-agents/core/provider'
import { TestSampler } from '@helix-agents/core/testing'
import { JSAgentExecutor } from '@helix-agents/runtime-js'
import {
  InMemorySnapshotStore,
  InMemoryStateStore,
  InMemoryStreamManager,
} from '@helix-agents/store-memory'
import { LocalBashWorkspaceProvider } from '@helix-agents/workspace-local-bash'
import { InMemoryWorkspaceProvider } from '@helix-agents/workspace-memory'
import { afterEach, expect, test, vi } from 'vitest'

const MEBIBYTE = 1024 ** 2
const BYTES = new TestSampler().size(1024, 32) * MEBIBYTE
const TIMEOUT_MS = 600_000
const session = { sessionId: 'session', agentType: 'agent' }

const ends: (() => Promise<unknown> | void)[] = []
afterEach(async () => {
  for (const end of ends.splice(0)) await end()
})

function temporary(): string {
  const directory = mkdtempSync(join(tmpdir(), 'helix-limits-'))
  ends.push(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}

/** Tests of other packages have it; their types are those of workerd. */
async function providerOf(module: string): Promise<(setup?: object) => WorkspaceProvider> {
  const { href } = new URL(`../../../${module}`, import.meta.url)
  const { createNodeProvider } = (await import(/* @vite-ignore */ href)) as {
    readonly createNodeProvider: (setup?: object) => WorkspaceProvider
  }
  return createNodeProvider
}
const createFileStore = await providerOf('workspace-cloudflare-filestore/test/node-provider.ts')
const createSandbox = await providerOf('workspace-cloudflare-sandbox/test/double/node-provider.ts')

const kinds = ['in-memory', 'local-bash', 'cloudflare-filestore', 'cloudflare-sandbox']

/** One of each kind; workspaces of `local-bash` are in a directory. */
function createProviders(directory: string): ReadonlyMap<string, WorkspaceProvider> {
  const local = new LocalBashWorkspaceProvider({ tmpdirRoot: directory })
  const all = [new InMemoryWorkspaceProvider(), local, createFileStore(), createSandbox()]
  return new Map(all.map((provider) => [provider.providerId, provider]))
}

/** Holes take no room on a disk. */
function makeLarge(root: string): void {
  writeFileSync(join(root, 'large'), '')
  truncateSync(join(root, 'large'), BYTES)
}

const write = (path: string): MockStep => ({
  type: 'tool_calls',
  toolCalls: [{ id: 'a', name: 'workspace__box__write_file', arguments: { path, content: 'x' } }],
})
const end: MockStep = { type: 'text', content: 'Done.', shouldStop: true }

test.each(kinds)(
  'a move to %s says that a file is over the limit of the policy before anything is made there',
  { timeout: TIMEOUT_MS },
  async (kind) => {
    const directory = temporary()
    const workspaceProviders = createProviders(directory)
    const agent = defineAgent({
      name: 'a',
      llmConfig: { model: {} },
      workspaces: { box: { provider: { kind: 'local-bash' }, capabilities: { fs: true } } },
    })
    const store = new InMemoryStateStore()
    const streams = new InMemoryStreamManager()
    const adapter = new MockLLMAdapter([write('/a'), end, write('/b'), end])
    const executor = new JSAgentExecutor(store, streams, adapter, { workspaceProviders })
    const options = { sessionId: 's', keepWorkspaces: true }
    const run = async () => (await executor.execute(agent, 'go', options)).result()
    await run()
    const before = (await store.loadSession('s'))?.workspaceRefs
    const payload = before?.['box']?.ref as { readonly directory: string } | undefined
    makeLarge(join(directory, payload?.directory ?? '', 'root'))
    const provider = workspaceProviders.get(kind)
    const opened = provider && vi.spyOn(provider, 'open')
    const moved = executor.moveWorkspace(agent, 's', 'box', { to: { kind } })
    await expect(moved).rejects.toMatchObject({ code: 'too-large', path: '/large' })
    expect(opened).not.toHaveBeenCalled()
    // The session goes on where its files are.
    expect((await store.loadSession('s'))?.workspaceRefs).toEqual(before)
    expect(await run()).toMatchObject({ status: 'completed' })
    await executor.deleteSession(agent, 's')
  },
)

async function open(provider: WorkspaceProvider, maxFileSizeMb = 4096) {
  const kind = provider.providerId
  const { ws } = await provider.open(provider.parseConfig?.({ kind }) ?? { kind }, session, {
    workspace: 'box',
    capabilities: { fs: fileSystemConfigSchema.parse({ maxFileSizeMb }) },
    signal: new AbortController().signal,
    logger: noopLogger,
    clock: systemClock,
  })
  ends.unshift(() => ws.close())
  if (ws.fs === undefined) throw new Error('no files')
  return { ws, fs: ws.fs }
}

/** A file of other bytes in each mebibyte. */
async function fill(fs: FileSystem, mebibytes: number): Promise<void> {
  const block = new Uint8Array(MEBIBYTE)
  let at = 0
  await fs.writeStream(
    '/large',
    new ReadableStream<Uint8Array>({
      pull: (controller) => {
        at += 1
        block[0] = at
        controller.enqueue(block.slice())
        if (at === mebibytes) controller.close()
      },
    }),
  )
}

const ROOM_MB = 8
/** Of providers with that much room for all files, or for each. */
const narrow: readonly (readonly [string, string, () => ReturnType<typeof open>])[] = [
  ['in-memory', 'storage-full', () => open(new InMemoryWorkspaceProvider({ maxTotalMb: ROOM_MB }))],
  [
    'local-bash',
    'too-large',
    () => open(new LocalBashWorkspaceProvider({ tmpdirRoot: temporary() }), ROOM_MB),
  ],
  [
    'cloudflare-filestore',
    'storage-full',
    () => open(createFileStore({ maxBytes: ROOM_MB * MEBIBYTE })),
  ],
  ['cloudflare-sandbox', 'too-large', () => open(createSandbox(), ROOM_MB)],
]

test.each(narrow)('a restore into %s is %s, and keeps nothing of the file', async (_, code, to) => {
  const store = new InMemorySnapshotStore()
  const source = await open(new InMemoryWorkspaceProvider())
  await fill(source.fs, 2 * ROOM_MB)
  const identity = { scope: 's', session, workspace: 'box', providerId: 'any' }
  const taken = await takeSnapshot(source.fs, store, { ...identity, workspaceId: source.ws.id })
  const { fs } = await to()
  const restored = restoreSnapshot(taken.manifest, store, fs, { scope: 's' })
  await expect(restored).rejects.toMatchObject({ code, path: '/large' })
  expect(await fs.ls('/')).toEqual([])
  // What had come of it takes no room.
  await fill(fs, ROOM_MB)
  expect(await fs.stat('/large')).toMatchObject({ size: ROOM_MB * MEBIBYTE })
})

test('a portable restore says it before it opens a workspace', async () => {
  const provider = new InMemoryWorkspaceProvider()
  const inner = vi.spyOn(provider, 'open')
  const portable = portableSnapshots(provider, { store: new InMemorySnapshotStore() })
  const { ws, fs } = await open(portable)
  await fill(fs, 2 * ROOM_MB)
  const snapshot = await ws.snapshot?.snapshot({ keep: true })
  if (snapshot === undefined) throw new Error('no snapshot')
  inner.mockClear()
  const restored = portable.history?.restore(snapshot, {
    workspace: 'box',
    session,
    config: { kind: 'in-memory' },
    capabilities: { fs: fileSystemConfigSchema.parse({ maxFileSizeMb: ROOM_MB }) },
    signal: new AbortController().signal,
    logger: noopLogger,
    clock: systemClock,
  })
  await expect(restored).rejects.toMatchObject({ code: 'too-large', path: '/large' })
  expect(inner).not.toHaveBeenCalled()
})
