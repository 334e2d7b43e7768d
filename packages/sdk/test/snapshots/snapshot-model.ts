import assert from 'node:assert/strict'
import { SnapshotStoreError } from '@helix-agents/core'
import {
  allManifests,
  restoreSnapshot,
  SNAPSHOT_GRACE_MS,
  type SnapshotManifest,
  type SnapshotStore,
  takeSnapshot,
  verifySnapshots,
} from '@helix-agents/core/provider'
import type { ManualClock } from '@helix-agents/core/testing'
import { InMemoryFileSystem } from '@helix-agents/workspace-memory'
import fc from 'fast-check'
import { Crash, crashingAt } from './crashing-store.ts'

const SCOPES = ['s0', 's1'] as const
const PATHS = ['/a', '/d/b', '/d/c'] as const
/** More awaits than any operation of the model has. */
const NO_CRASH = 1000

type Action =
  | { readonly kind: 'take' | 'delete' | 'restore'; readonly pick: number }
  | { readonly kind: 'sweep'; readonly graceMs: number }

interface Step {
  readonly scope: (typeof SCOPES)[number]
  readonly change: { readonly path: (typeof PATHS)[number]; readonly text: string }
  /** Run at once. */
  readonly actions: readonly { readonly action: Action; readonly crashAt: number }[]
  readonly waitMs: number
}

const action: fc.Arbitrary<Action> = fc.oneof(
  fc.record({ kind: fc.constantFrom('take', 'take', 'delete', 'restore'), pick: fc.nat(5) }),
  fc.record({ kind: fc.constant('sweep'), graceMs: fc.constantFrom(0, SNAPSHOT_GRACE_MS) }),
)
/** One turn of a session, with operations that run at once. */
export const step: fc.Arbitrary<Step> = fc.record({
  scope: fc.constantFrom(...SCOPES),
  change: fc.record({
    path: fc.constantFrom(...PATHS),
    text: fc.constantFrom('', 'x', 'y', 'shared', 'z'.repeat(100)),
  }),
  actions: fc.array(
    fc.record({ action, crashAt: fc.oneof(fc.constant(NO_CRASH), fc.integer({ min: 1, max: 9 })) }),
    { minLength: 1, maxLength: 3 },
  ),
  waitMs: fc.constantFrom(0, 1000, SNAPSHOT_GRACE_MS),
})

class Session {
  readonly fs = new InMemoryFileSystem()
  parent: SnapshotManifest | undefined
  /** Files of all snapshots that may be stored, as JSON. */
  readonly candidates = new Set<string>()
  /** Ids of those that must be there, and of those that must not. */
  readonly stored = new Set<string>()
  readonly deleted = new Set<string>()
}

/** The sessions of one store, and what must be in it. */
export class SnapshotModel {
  readonly store: SnapshotStore
  readonly clock: ManualClock
  readonly sessions = new Map(SCOPES.map((scope) => [scope, new Session()] as const))

  constructor(store: SnapshotStore, clock: ManualClock) {
    this.store = store
    this.clock = clock
  }

  async run({ scope, change, actions, waitMs }: Step): Promise<void> {
    const session = this.sessions.get(scope)
    if (session === undefined) throw new Error('no session')
    await session.fs.writeFile(change.path, change.text)
    await Promise.all(
      actions.map(async ({ action: one, crashAt }) => {
        try {
          await this.#act(one, scope, session, crashingAt(this.store, crashAt))
        } catch (error) {
          if (!(error instanceof Crash) && !isAllowed(error, actions)) throw error
        }
      }),
    )
    await this.clock.advance(waitMs)
    await this.check()
  }

  async #act(one: Action, scope: string, session: Session, store: SnapshotStore): Promise<void> {
    if (one.kind === 'sweep') return void (await store.sweep(scope, { graceMs: one.graceMs }))
    if (one.kind === 'take') return this.#take(scope, session, store)
    const picked = [...session.stored][one.pick]
    if (picked === undefined) return
    if (one.kind === 'restore') {
      const manifest = await store.getManifest(scope, picked)
      await restoreSnapshot(manifest, store, new InMemoryFileSystem(), { scope })
      return
    }
    // A crash leaves it there, or gone.
    session.stored.delete(picked)
    await store.deleteManifest(scope, picked)
    session.deleted.add(picked)
  }

  async #take(scope: string, session: Session, store: SnapshotStore): Promise<void> {
    session.candidates.add(await filesOf(session.fs))
    const { parent } = session
    const { manifest } = await takeSnapshot(session.fs, store, {
      scope,
      session: { sessionId: scope, agentType: 'a' },
      workspace: 'w',
      workspaceId: scope,
      providerId: 'in-memory',
      ...(parent && { parent }),
      clock: this.clock,
    })
    session.parent = manifest
    session.stored.add(manifest.header.snapshotId)
  }

  async check(): Promise<void> {
    for (const [scope, session] of this.sessions) {
      assert.deepEqual((await verifySnapshots(this.store, scope)).damaged, [])
      const ids = new Set<string>()
      for await (const { snapshotId } of allManifests(this.store, scope)) ids.add(snapshotId)
      assert.deepEqual(
        [...session.stored].filter((id) => !ids.has(id)),
        [],
      )
      assert.deepEqual(
        [...session.deleted].filter((id) => ids.has(id)),
        [],
      )
    }
  }

  /** Everything that is listed comes back as it was; then everything is freed. */
  async end(): Promise<void> {
    for (const [scope, session] of this.sessions) {
      const ids: string[] = []
      for await (const { snapshotId } of allManifests(this.store, scope)) ids.push(snapshotId)
      for (const id of ids) {
        const target = new InMemoryFileSystem()
        const manifest = await this.store.getManifest(scope, id)
        await restoreSnapshot(manifest, this.store, target, { scope })
        assert(session.candidates.has(await filesOf(target)), id)
        await this.store.deleteManifest(scope, id)
      }
      await this.clock.advance(SNAPSHOT_GRACE_MS)
      assert.equal((await this.store.sweep(scope)).keptBlocks, 0)
    }
  }
}

/** A sweep without grace takes blocks of a snapshot that is not stored yet; a restore meets a delete. */
function isAllowed(error: unknown, actions: Step['actions']): boolean {
  if (!SnapshotStoreError.isInstance(error)) return false
  const has = (kind: Action['kind']): boolean => actions.some((one) => one.action.kind === kind)
  if (error.code === 'not-found') return has('delete')
  return error.code === 'missing-blocks' && has('sweep')
}

async function filesOf(fs: InMemoryFileSystem): Promise<string> {
  const files = (await fs.glob('**')).map(async (path) => [path, await fs.readText(path)])
  return JSON.stringify(await Promise.all(files))
}
