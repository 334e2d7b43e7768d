import { noopLogger, systemClock } from '@helix-agents/core'
import {
  type OpenOptions,
  portableSnapshots,
  type WorkspaceProvider,
  type WorkspaceRef,
} from '@helix-agents/core/provider'
import { defineWorkspaceConformance } from '@helix-agents/workspace-conformance'
import { InMemoryWorkspaceProvider } from '@helix-agents/workspace-memory'
import { describe, expect, it, test } from 'vitest'
import { InMemorySnapshotStore } from '../src/index.ts'

const options: OpenOptions = {
  workspace: 'box',
  capabilities: {},
  signal: new AbortController().signal,
  logger: noopLogger,
  clock: systemClock,
}
const session = { sessionId: 'session', agentType: 'agent' }

describe('portableSnapshots over a provider without them', () => {
  defineWorkspaceConformance(
    { it, fails: it.fails },
    {
      capabilities: { fs: true, snapshot: true, branch: true },
      createProvider: async () => {
        const store = new InMemorySnapshotStore()
        const provider = portableSnapshots(new InMemoryWorkspaceProvider(), { store })
        return {
          provider,
          config: { kind: 'in-memory' },
          restart: async () => portableSnapshots(new InMemoryWorkspaceProvider(), { store }),
          evict: (ref) => closeBehindItsBack(provider, ref),
        }
      },
    },
  )
})

async function closeBehindItsBack(provider: WorkspaceProvider, ref: WorkspaceRef): Promise<void> {
  const other = { sessionId: 'other', agentType: 'kit' }
  const { ws } = await provider.resolve(ref, { ...options, session: other })
  await ws.close()
}

test('a kept snapshot outlives its workspace and brings it back in another provider object', async () => {
  const store = new InMemorySnapshotStore()
  const provider = portableSnapshots(new InMemoryWorkspaceProvider(), { store })
  const { ws } = await provider.open({ kind: 'in-memory' }, session, options)
  await ws.fs?.writeFile('/a', 'kept')
  const ref = await ws.snapshot?.snapshot({ keep: true })
  await ws.snapshot?.snapshot()
  await ws.close()
  if (ref === undefined) throw new Error('no snapshot')

  const later = portableSnapshots(new InMemoryWorkspaceProvider(), { store })
  expect(await later.history?.list('session')).toEqual({ snapshots: [ref], workspaces: [] })
  const restored = await later.history?.restore(ref, { ...options, session })
  if (restored === undefined) throw new Error('not restored')
  const again = await later.resolve(restored, { ...options, session })
  expect(await again.ws.fs?.readFile('/a')).toEqual(new TextEncoder().encode('kept'))
  await later.history?.remove(ref)
  await again.ws.close()
  await store.sweep('session', { graceMs: 0 })
  expect(store.bytes).toBe(0)
})

test.each([
  ['stands still', 0],
  ['is set back', -60_000],
])('the oldest snapshots of a line go first, kept ones stay; the clock %s', async (_, step) => {
  const store = new InMemorySnapshotStore()
  const provider = portableSnapshots(new InMemoryWorkspaceProvider(), { store, maxSnapshots: 2 })
  let now = Date.now()
  const clock = { ...systemClock, now: () => now }
  const { ws } = await provider.open({ kind: 'in-memory' }, session, { ...options, clock })
  const refs = []
  for (let number = 0; number < 4; number += 1) {
    now += step
    await ws.fs?.writeFile('/a', String(number))
    refs.push(await ws.snapshot?.snapshot({ keep: number === 0 }))
  }
  expect((await store.listManifests('session')).items).toHaveLength(3)
  const [kept, dropped] = refs
  if (kept === undefined || dropped === undefined) throw new Error('no snapshot')
  await expect(ws.snapshot?.restore(dropped)).rejects.toMatchObject({ code: 'provider-failed' })
  await ws.snapshot?.restore(kept)
})

test('a damaged snapshot leaves no workspace behind', async () => {
  class Damaged extends InMemorySnapshotStore {
    override async getBlocks() {
      return new Map<string, Uint8Array>()
    }
  }
  const inner = new InMemoryWorkspaceProvider()
  const provider = portableSnapshots(inner, { store: new Damaged() })
  const { ws } = await provider.open({ kind: 'in-memory' }, session, options)
  await ws.fs?.writeFile('/dir/a', 'text')
  const ref = await ws.snapshot?.snapshot()
  if (ref === undefined) throw new Error('no snapshot')
  await expect(ws.snapshot?.restore(ref)).rejects.toThrow('stored content is missing: /dir/a')
  expect((await inner.history.list('session')).workspaces).toHaveLength(1)
})

test('a forged ref reaches no other scope', async () => {
  const store = new InMemorySnapshotStore()
  const provider = portableSnapshots(new InMemoryWorkspaceProvider(), { store })
  const other = { sessionId: 'other', agentType: 'agent' }
  const theirs = await provider.open({ kind: 'in-memory' }, other, options)
  await theirs.ws.fs?.writeFile('/secret', 'secret')
  const ref = await theirs.ws.snapshot?.snapshot()
  const payload = ref?.ref as { snapshotId: string }
  const { ws } = await provider.open({ kind: 'in-memory' }, session, options)
  const forge = (changed: object) => ({
    providerId: 'in-memory',
    ref: { schemaVersion: 1, scope: 'other', snapshotId: payload.snapshotId, ...changed },
  })
  await expect(ws.snapshot?.restore(forge({}))).rejects.toMatchObject({ code: 'cross-session' })
  await expect(ws.snapshot?.restore(forge({ scope: 'session' }))).rejects.toMatchObject({
    code: 'provider-failed',
  })
  await expect(ws.snapshot?.restore(forge({ snapshotId: '../other' }))).rejects.toMatchObject({
    code: 'ref-invalid',
  })
  await expect(provider.history?.restore(forge({}), { ...options, session })).rejects.toMatchObject(
    { code: 'cross-session' },
  )
})

test('a provider that opens the workspace that is there keeps its files', async () => {
  class OneWorkspace extends InMemoryWorkspaceProvider {
    #only: ReturnType<InMemoryWorkspaceProvider['open']> | undefined

    override open(...args: Parameters<InMemoryWorkspaceProvider['open']>) {
      this.#only ??= super.open(...args)
      return this.#only
    }
  }
  const provider = portableSnapshots(new OneWorkspace(), { store: new InMemorySnapshotStore() })
  const { ws } = await provider.open({ kind: 'in-memory' }, session, options)
  await ws.fs?.writeFile('/a', 'text')
  const ref = await ws.snapshot?.snapshot()
  if (ref === undefined) throw new Error('no snapshot')
  await expect(ws.snapshot?.restore(ref)).rejects.toMatchObject({ code: 'provider-failed' })
  expect(await ws.fs?.readFile('/a')).toEqual(new TextEncoder().encode('text'))
})
