// The homes of workspaces, as they outlive the processes that use them.
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Clock } from '@helix-agents/core'
import {
  allManifests,
  type SnapshotRef,
  type SnapshotStore,
  type WorkspaceProvider,
  type WorkspaceRef,
} from '@helix-agents/core/provider'
import { LocalBashWorkspaceProvider } from '@helix-agents/workspace-local-bash'
import { DirectorySnapshotStore } from '@helix-agents/workspace-local-bash/parts'
import { InMemoryWorkspaceProvider } from '@helix-agents/workspace-memory'
import type { DyingProcess } from './process.ts'

/** Names of what is there, whoever knows of it. */
export interface Held {
  readonly backends: readonly string[]
  readonly snapshots: readonly string[]
}

/** One provider, and all that it keeps when a process dies. */
export interface Home {
  readonly name: string
  /** As an agent declares it. */
  readonly config: { readonly kind: string }
  /** For a process that begins. */
  provider(process: DyingProcess): WorkspaceProvider
  held(sessionIds: readonly string[]): Promise<Held>
  nameOf(ref: WorkspaceRef): string
  nameOfSnapshot(ref: SnapshotRef): string
  /** What is there beside backends and snapshots once no session is left, after a sweep. */
  rest(): Promise<readonly string[]>
  /** Loses every backend, where they can be lost. Default: they cannot. */
  lose?(): void
  dispose(): void
}

/** A part of a ref that names its backend, or a snapshot. */
export function partOf(ref: unknown, ...keys: readonly string[]): string {
  let at: unknown = ref
  for (const key of keys) at = Object(at)[key] as unknown
  return String(at)
}

/** The memory stands for that of another machine: it outlives the process of the agent. */
class MemoryHome implements Home {
  readonly name = 'in-memory'
  readonly config = { kind: 'in-memory' }
  readonly #provider = new InMemoryWorkspaceProvider()

  provider(): WorkspaceProvider {
    return this.#provider
  }

  async held(sessionIds: readonly string[]): Promise<Held> {
    const all = await Promise.all(sessionIds.map((id) => this.#provider.history.list(id)))
    return {
      backends: all.flatMap(({ workspaces }) => workspaces.map((ref) => this.nameOf(ref))),
      snapshots: all.flatMap(({ snapshots }) => snapshots.map((ref) => this.nameOfSnapshot(ref))),
    }
  }

  nameOf({ ref }: WorkspaceRef): string {
    return partOf(ref, 'id')
  }

  nameOfSnapshot({ ref }: SnapshotRef): string {
    return partOf(ref, 'id')
  }

  async rest(): Promise<readonly string[]> {
    return []
  }

  dispose(): void {}
}

class LocalHome implements Home {
  readonly name = 'local-bash'
  readonly config = { kind: 'local-bash' }
  readonly #root = mkdtempSync(join(tmpdir(), 'helix-crash-'))
  readonly #clock: Clock

  constructor(clock: Clock) {
    this.#clock = clock
  }

  provider(): WorkspaceProvider {
    return new LocalBashWorkspaceProvider({ tmpdirRoot: this.#root, clock: this.#clock })
  }

  async held(): Promise<Held> {
    const backends = readdirSync(this.#root).filter((name) => name.startsWith('helix-ws-'))
    return { backends, snapshots: await keptIn(this.#store(), (_, id) => id) }
  }

  nameOf({ ref }: WorkspaceRef): string {
    return partOf(ref, 'directory')
  }

  nameOfSnapshot({ ref }: SnapshotRef): string {
    return partOf(ref, 'id')
  }

  async rest(): Promise<readonly string[]> {
    const stored = `helix-snapshots-${process.getuid?.() ?? 0}`
    const others = readdirSync(this.#root).filter((name) => name !== stored)
    return [...others, ...(await scopesOf(this.#store()))]
  }

  dispose(): void {
    rmSync(this.#root, { recursive: true, force: true })
  }

  #store(): DirectorySnapshotStore {
    const directory = join(this.#root, `helix-snapshots-${process.getuid?.() ?? 0}`)
    return new DirectorySnapshotStore({ directory, clock: this.#clock })
  }
}

/** Snapshots that are kept until they are removed. */
export async function keptIn(
  store: SnapshotStore,
  nameOf: (scope: string, id: string) => string,
): Promise<readonly string[]> {
  const names: string[] = []
  for (const scope of await scopesOf(store)) {
    for await (const { snapshotId, kept } of allManifests(store, scope))
      if (kept === true) names.push(nameOf(scope, snapshotId))
  }
  return names
}

export async function scopesOf(store: SnapshotStore): Promise<readonly string[]> {
  return (await store.listScopes({ limit: 1000 })).items
}

export function createMemoryHome(): Home {
  return new MemoryHome()
}

export function createLocalHome(clock: Clock): Home {
  return new LocalHome(clock)
}
