// What must be so after any death, once a new process has settled and collected.
import type { SnapshotRef } from '@helix-agents/core/provider'
import { restoreSnapshot } from '@helix-agents/core/provider'
import { InMemoryFileSystem } from '@helix-agents/workspace-memory'
import { expect } from 'vitest'
import { DyingProcess } from './process.ts'
import { type Tree, treeOf } from './provider.ts'
import type { CrashWorld } from './world.ts'

/** What the stored sessions need, by the name of the home. */
interface Needed {
  readonly backends: Map<string, Set<string>>
  readonly inUse: Map<string, Set<string>>
  readonly snapshots: Map<string, Set<string>>
}

/**
 * Nothing is there that no session needs, and nothing is gone that one needs: each session has its
 * backends, and each checkpoint the files that were taken for it.
 */
export async function judge(world: CrashWorld): Promise<void> {
  const needed = await neededOf(world)
  const ids = [...world.ids]
  for (const home of world.homes) {
    const { name } = home
    const held = await home.held(ids)
    const has = sorted(held.backends)
    const wanted = needed.backends.get(name) ?? new Set()
    expect([name, 'left', has.filter((one) => !wanted.has(one))]).toEqual([name, 'left', []])
    const used = [...(needed.inUse.get(name) ?? [])]
    expect([name, 'gone', used.filter((one) => !has.includes(one))]).toEqual([name, 'gone', []])
    const promised = sorted([...(needed.snapshots.get(name) ?? [])])
    expect([name, sorted(held.snapshots)]).toEqual([name, promised])
  }
  for (const sessionId of ids) await judgeCheckpoints(world, sessionId)
}

async function neededOf(world: CrashWorld): Promise<Needed> {
  const needed: Needed = { backends: new Map(), inUse: new Map(), snapshots: new Map() }
  for (const sessionId of world.ids) {
    const session = await world.store.loadSession(sessionId)
    if (session === null) continue
    const { refs, snapshots } = await world.store.loadHistory(sessionId)
    for (const ref of refs) note(needed.backends, world.homeOf(ref), (home) => home.nameOf(ref))
    for (const ref of Object.values(session.workspaceRefs))
      note(needed.inUse, world.homeOf(ref), (home) => home.nameOf(ref))
    for (const { files } of snapshots) {
      const { snapshot } = files
      if (snapshot !== undefined)
        note(needed.snapshots, world.homeOf(snapshot), (home) => home.nameOfSnapshot(snapshot))
    }
  }
  return needed
}

function note<H extends { readonly name: string }>(
  names: Map<string, Set<string>>,
  home: H,
  named: (home: H) => string,
): void {
  const found = names.get(home.name) ?? new Set()
  names.set(home.name, found.add(named(home)))
}

/** Every block that a manifest needs is there: each checkpoint is read as one who restores it does. */
async function judgeCheckpoints(world: CrashWorld, sessionId: string): Promise<void> {
  if ((await world.store.loadSession(sessionId)) === null) return
  const { items } = await world.store.listCheckpoints(sessionId, { limit: 200 })
  const read = new Set<string>()
  for (const { id: checkpointId, workspaceSnapshots = {} } of items) {
    for (const [workspace, { snapshot }] of Object.entries(workspaceSnapshots)) {
      if (snapshot === undefined) continue
      const name = snapshotName(world, snapshot)
      if (read.has(name)) continue
      read.add(name)
      const executor = world.executor(new DyingProcess())
      const at = { checkpointId, workspace }
      const tree = await executor.readFiles(world.agent, sessionId, at, async (files) => {
        const target = new InMemoryFileSystem()
        await restoreSnapshot(files.manifest, files.store, target, { scope: files.scope })
        return treeOf(target)
      })
      expect([name, tree]).toEqual([name, world.expected.get(name)])
    }
  }
}

function snapshotName(world: CrashWorld, snapshot: SnapshotRef): string {
  return world.homeOf(snapshot).nameOfSnapshot(snapshot)
}

/** The end of all sessions leaves nothing anywhere. */
export async function judgeEnd(world: CrashWorld): Promise<void> {
  const executor = world.executor(new DyingProcess())
  const { items } = await world.store.listSessions({ limit: 200 })
  for (const { sessionId } of items) await executor.deleteSession(world.agent, sessionId)
  for (const home of world.homes) {
    const held = await home.held([...world.ids])
    expect([home.name, held]).toEqual([home.name, { backends: [], snapshots: [] }])
    expect([home.name, await home.rest()]).toEqual([home.name, []])
  }
}

/** Files by their paths; directories count for nothing. */
export function textsOf(tree: Tree | undefined): Readonly<Record<string, string | null>> {
  return Object.fromEntries(Object.entries(tree ?? {}).filter(([, text]) => text !== null))
}

function sorted(names: readonly string[]): readonly string[] {
  return [...new Set(names)].toSorted()
}
