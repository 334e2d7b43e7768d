// A tree of awkward kinds, taken in each provider and restored in each other: the digests are equal, or
// the receipts name each difference. The filestore is over the SQLite of Node, the sandbox in memory.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { noopLogger, systemClock } from '@helix-agents/core'
import {
  compareEntries,
  type FileSystem,
  fileSystemConfigSchema,
  restoreSnapshot,
  type SnapshotStore,
  takeSnapshot,
  verifySnapshots,
  type Workspace,
  type WorkspaceProvider,
} from '@helix-agents/core/provider'
import { TestSampler } from '@helix-agents/core/testing'
import { InMemorySnapshotStore } from '@helix-agents/store-memory'
import { LocalBashWorkspaceProvider } from '@helix-agents/workspace-local-bash'
import { DirectorySnapshotStore } from '@helix-agents/workspace-local-bash/parts'
import { InMemoryWorkspaceProvider } from '@helix-agents/workspace-memory'
import { afterEach, describe, expect, test } from 'vitest'
import { addHostKinds, fillAwkward } from './awkward-tree.ts'

const sampler = new TestSampler()
const files = sampler.size(10_000, 50)
const session = { sessionId: 'session', agentType: 'agent' }
const ends: (() => Promise<void>)[] = []

/** To remove 10,000 files takes a busy disk minutes. */
const TIMEOUT_MS = sampler.size(900_000, 120_000)

afterEach(async () => {
  for (const end of ends.splice(0)) await end()
}, TIMEOUT_MS)

function temporary(): string {
  const directory = mkdtempSync(join(tmpdir(), 'helix-matrix-'))
  ends.push(async () => rmSync(directory, { recursive: true, force: true }))
  return directory
}

/** Tests of other packages have it; their types are those of workerd. */
async function providerOf(module: string): Promise<() => WorkspaceProvider> {
  const { href } = new URL(`../../../${module}`, import.meta.url)
  const { createNodeProvider } = (await import(/* @vite-ignore */ href)) as {
    readonly createNodeProvider: () => WorkspaceProvider
  }
  return createNodeProvider
}

const providers: Readonly<Record<string, () => WorkspaceProvider>> = {
  'in-memory': () => new InMemoryWorkspaceProvider(),
  'local-bash': () => new LocalBashWorkspaceProvider({ tmpdirRoot: temporary() }),
  'cloudflare-filestore': await providerOf('workspace-cloudflare-filestore/test/node-provider.ts'),
  'cloudflare-sandbox': await providerOf(
    'workspace-cloudflare-sandbox/test/double/node-provider.ts',
  ),
}
/** The only one with modes and links in its files. */
const onHost = 'local-bash'

const stores: Readonly<Record<string, () => SnapshotStore>> = {
  'memory store': () => new InMemorySnapshotStore(),
  'directory store': () => new DirectorySnapshotStore({ directory: temporary() }),
}

async function open(kind: string): Promise<{ ws: Workspace; fs: FileSystem }> {
  const provider = entry(providers, kind)()
  const config = provider.parseConfig?.({ kind }) ?? { kind }
  const { ws } = await provider.open(config, session, {
    workspace: 'box',
    capabilities: { fs: fileSystemConfigSchema.parse({}) },
    signal: new AbortController().signal,
    logger: noopLogger,
    clock: systemClock,
  })
  ends.unshift(() => ws.close())
  if (ws.fs === undefined) throw new Error('no files')
  return { ws, fs: ws.fs }
}

function entry<T>(table: Readonly<Record<string, T>>, key: string): T {
  const found = table[key]
  if (found === undefined) throw new Error(`no ${key}`)
  return found
}

const identity = (ws: Workspace, providerId: string) => ({
  scope: 's',
  session,
  workspace: 'box',
  workspaceId: ws.id,
  providerId,
})

const kinds = Object.keys(providers)
const pairs = kinds.flatMap((from) => kinds.map((to) => [from, to] as const))

describe.each(Object.keys(stores))('with a %s', (name) => {
  // The store has no part in what providers hold: the second one is tried with one pair.
  const some = name === 'memory store' || sampler.isExhaustive ? pairs : pairs.slice(-1)
  test.each(some)('from %s to %s', { timeout: TIMEOUT_MS }, async (from, to) => {
    const store = entry(stores, name)()
    const source = await open(from)
    await fillAwkward(source.fs, files)
    const shellRoot = from === onHost ? source.ws.shellRoot : undefined
    if (shellRoot !== undefined) addHostKinds(shellRoot)
    const taken = await takeSnapshot(source.fs, store, identity(source.ws, from))
    expect(taken.losses.map(({ path, kind }) => `${kind} ${path}`)).toEqual(
      shellRoot === undefined ? [] : ['link /links/absolute-outside', 'link /links/climbs-out'],
    )

    const target = await open(to)
    const restored = await restoreSnapshot(taken.manifest, store, target.fs, { scope: 's' })
    const again = await takeSnapshot(target.fs, store, identity(target.ws, to))
    const differences = await compareEntries(taken.manifest.entries, again.manifest.entries)
    const named = new Set(restored.losses.map(({ path, kind }) => `${kind} ${path}`))
    // A host gives modes to what came without them; everything else is equal or named.
    const unnamed = differences.filter(({ path, change, from: before }) => {
      if (change === 'mode' && before !== undefined && !('mode' in before)) return false
      return !named.has(`${change === 'mode' ? 'mode' : 'link'} ${path}`)
    })
    expect(unnamed).toEqual([])
    expect(named.size).toBe(from === onHost && to !== onHost ? differences.length : 0)
    const [before, after] = [taken.manifest.header.digest, again.manifest.header.digest]
    // Where both have modes and links, or neither has.
    const isAlike = (from === onHost) === (to === onHost)
    expect(isAlike ? after : before).toBe(before)
    expect(again.storedBlocks).toBe(0)
    expect(await verifySnapshots(store, 's')).toEqual({ snapshots: 2, damaged: [] })
  })
})
