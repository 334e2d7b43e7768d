// The homes of workspaces on Cloudflare: a database with a bucket, and sandboxes.
import type { Clock } from '@helix-agents/core'
import {
  portableSnapshots,
  type SnapshotRef,
  type WorkspaceProvider,
  type WorkspaceRef,
} from '@helix-agents/core/provider'
import type { ManualClock } from '@helix-agents/core/testing'
import { InMemorySnapshotStore } from '@helix-agents/store-memory'
import { type Held, type Home, keptIn, partOf, scopesOf } from './homes.ts'
import type { DyingProcess } from './process.ts'

type Row = Readonly<Record<string, unknown>>

/** What is used of tests of other packages, whose types are those of workerd. */
interface Storage {
  readonly database: { close(): void }
  readonly sql: { exec(statement: string, ...bindings: unknown[]): { toArray(): Row[] } }
  transactionSync<T>(work: () => T): T
}
interface FileStore extends WorkspaceProvider {
  collect(): Promise<unknown>
}
interface World {
  readonly containers: Map<string, unknown>
  readonly backups: Map<string, unknown>
  now: () => number
  readonly createDriver: unknown
  enter(sandboxId: string, name: string): Promise<void>
}
interface Modules {
  readonly NodeStorage: new () => Storage
  readonly createProvider: (storage: Omit<Storage, 'database'>, setup: object) => FileStore
  readonly databaseFaults: (storage: Storage) => string[]
  readonly SandboxWorld: new () => World
  readonly MemoryDriver: new (world: World, settings: unknown) => object
  readonly CloudflareSandboxWorkspaceProvider: new (options: object) => Required<WorkspaceProvider>
}

const fileStoreTest = 'workspace-cloudflare-filestore/test'
const sandboxTest = 'workspace-cloudflare-sandbox/test/double'

async function load<Name extends keyof Modules>(path: string): Promise<Pick<Modules, Name>> {
  const { href } = new URL(`../../../../${path}.ts`, import.meta.url)
  return (await import(/* @vite-ignore */ href)) as Modules
}

const { NodeStorage } = await load<'NodeStorage'>(`${fileStoreTest}/node-storage`)
const { createProvider } = await load<'createProvider'>(`${fileStoreTest}/provider-harness`)
const { databaseFaults } = await load<'databaseFaults'>(`${fileStoreTest}/crash/audit`)
const { SandboxWorld } = await load<'SandboxWorld'>(`${sandboxTest}/memory-world`)
const { MemoryDriver } = await load<'MemoryDriver'>(`${sandboxTest}/memory-driver`)
const { CloudflareSandboxWorkspaceProvider } = await load<'CloudflareSandboxWorkspaceProvider'>(
  'workspace-cloudflare-sandbox/src/index',
)

/** The part of a bucket that large files need. */
class MemoryBucket {
  readonly objects = new Map<string, Uint8Array>()

  async head(key: string): Promise<object | null> {
    return this.objects.has(key) ? {} : null
  }

  async get(key: string, { range }: { range?: { offset: number; length: number } } = {}) {
    const bytes = this.objects.get(key)
    if (bytes === undefined) return null
    const { offset = 0, length = bytes.length } = range ?? {}
    const response = new Response(bytes.slice(offset, offset + length))
    return { body: response.body, arrayBuffer: () => response.arrayBuffer() }
  }

  async put(key: string, value: Uint8Array): Promise<object> {
    this.objects.set(key, value.slice())
    return {}
  }

  async delete(keys: readonly string[]): Promise<void> {
    for (const key of keys) this.objects.delete(key)
  }
}

/** More than this is in the bucket. */
const INLINE_BYTES = 16
const GRACE_MS = 600_000

class FileStoreHome implements Home {
  readonly name = 'cloudflare-filestore'
  readonly config = { kind: 'cloudflare-filestore' }
  readonly #storage = new NodeStorage()
  readonly #bucket = new MemoryBucket()
  readonly #clock: ManualClock

  constructor(clock: ManualClock) {
    this.#clock = clock
  }

  provider(process: DyingProcess): WorkspaceProvider {
    const { sql } = this.#storage
    // What a process remembers goes with its handle of the database.
    const storage = {
      sql: { exec: (...given: Parameters<typeof sql.exec>) => sql.exec(...given) },
      transactionSync: <T>(work: () => T) => this.#storage.transactionSync(work),
    }
    const r2 = process.wrap('bucket', this.#bucket)
    const sizes = { inlineThresholdBytes: INLINE_BYTES, collectionGraceMs: GRACE_MS }
    return createProvider(storage, { r2, clock: this.#clock, ...sizes })
  }

  async held(): Promise<Held> {
    const statement = 'SELECT public_id, kind FROM helix_fs_namespaces'
    const rows = hasTables(this.#storage) ? this.#storage.sql.exec(statement).toArray() : []
    const ofKind = (kind: string): string[] =>
      rows.filter((row) => row['kind'] === kind).map((row) => String(row['public_id']))
    return { backends: ofKind('workspace'), snapshots: ofKind('kept') }
  }

  nameOf({ ref }: WorkspaceRef): string {
    return partOf(ref, 'id')
  }

  nameOfSnapshot({ ref }: SnapshotRef): string {
    return partOf(ref, 'id')
  }

  /** After a collection. */
  async rest(): Promise<readonly string[]> {
    if (!hasTables(this.#storage)) return []
    await this.#clock.advance(2 * GRACE_MS)
    const { sql } = this.#storage
    const provider = createProvider(this.#storage, { r2: this.#bucket, clock: this.#clock })
    await provider.collect()
    await this.#clock.advance(2 * GRACE_MS)
    await provider.collect()
    const namespaces = sql.exec('SELECT public_id FROM helix_fs_namespaces').toArray()
    return [
      ...namespaces.map((row) => String(row['public_id'])),
      ...this.#bucket.objects.keys(),
      ...databaseFaults(this.#storage),
    ]
  }

  dispose(): void {
    this.#storage.database.close()
  }
}

function hasTables({ sql }: Storage): boolean {
  const statement = "SELECT name FROM sqlite_master WHERE name = 'helix_fs_namespaces'"
  return sql.exec(statement).toArray().length > 0
}

/** How a sandbox has its history: a store of snapshots, or backups. */
export type SandboxWay = 'portable' | 'backups'

class SandboxHome implements Home {
  readonly name: string
  readonly config: {
    readonly kind: string
    readonly backupR2Binding?: string
    destroyOnClose: true
  }
  readonly #world = new SandboxWorld()
  readonly #snapshots = new InMemorySnapshotStore()
  readonly #way: SandboxWay

  constructor(way: SandboxWay, clock: Clock) {
    const kind = 'cloudflare-sandbox'
    this.#way = way
    this.name = `${kind} (${way})`
    this.config = {
      kind,
      destroyOnClose: true,
      ...(way === 'backups' && { backupR2Binding: 'BACKUP_BUCKET' }),
    }
    this.#world.now = () => clock.now()
  }

  provider(process: DyingProcess): WorkspaceProvider {
    const world = withGate(this.#world, (name) => process.pass(`before ${name}`))
    const driver = (settings: unknown): object => new MemoryDriver(world, settings)
    const provider = new CloudflareSandboxWorkspaceProvider({ driver, localBuckets: true })
    if (this.#way === 'backups') return provider
    return portableSnapshots(provider, { store: process.wrap('store', this.#snapshots) })
  }

  async held(): Promise<Held> {
    const backends = [...this.#world.containers.keys()]
    if (this.#way === 'backups') return { backends, snapshots: [...this.#world.backups.keys()] }
    return { backends, snapshots: await keptIn(this.#snapshots, (_, id) => id) }
  }

  nameOf({ ref }: WorkspaceRef): string {
    return partOf(ref, 'sandbox')
  }

  nameOfSnapshot({ ref }: SnapshotRef): string {
    return this.#way === 'backups'
      ? partOf(ref, 'snapshot', 'backup', 'id')
      : partOf(ref, 'snapshotId')
  }

  async rest(): Promise<readonly string[]> {
    for (const scope of await scopesOf(this.#snapshots))
      await this.#snapshots.sweep(scope, { graceMs: 0 })
    const { containers, backups } = this.#world
    return [...containers.keys(), ...backups.keys(), ...(await scopesOf(this.#snapshots))]
  }

  /** As after a sleep. */
  lose(): void {
    this.#world.containers.clear()
  }

  dispose(): void {}
}

/** The same sandboxes, each call to which goes through a gate. */
function withGate(world: World, gate: (name: string) => void): World {
  return new Proxy(world, {
    get: (target, key) => {
      const value: unknown = Reflect.get(target, key, target)
      if (typeof value !== 'function') return value
      if (key !== 'enter') return value.bind(target) as unknown
      return async (sandboxId: string, name: string): Promise<void> => {
        gate(`sandbox.${name}`)
        await target.enter(sandboxId, name)
      }
    },
  })
}

export function createFileStoreHome(clock: ManualClock): Home {
  return new FileStoreHome(clock)
}

export function createSandboxHome(way: SandboxWay, clock: Clock): Home {
  return new SandboxHome(way, clock)
}
