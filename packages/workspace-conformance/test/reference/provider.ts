import { PolicyError, WorkspaceEvictedError, WorkspaceFailedError } from '@helix-agents/core'
import {
  type FileSystem,
  type OpenedWorkspace,
  type OpenOptions,
  parseProviderRef,
  type ResolveOptions,
  type SessionRef,
  type SnapshotOptions,
  type SnapshotRef,
  type Snapshotter,
  type Workspace,
  type WorkspaceProvider,
  type WorkspaceRef,
} from '@helix-agents/core/provider'
import type { ProviderHarness } from '@helix-agents/workspace-conformance'
import * as z from 'zod'
import { createReference } from './file-system.ts'
import { createShellReference, type ShellReference } from './shell.ts'

const MEGABYTE = 1024 * 1024
const VERSION = 3
export const CAPABILITIES = { fs: true, shell: true, snapshot: true, branch: true } as const
export const SECRET = 'planted-secret-4711'

const configSchema = z.strictObject({ kind: z.literal('reference') })
const payloadSchema = z.strictObject({ id: z.string().min(1).max(64) })
const snapshotSchema = z.strictObject({ snapshot: z.string(), sessionId: z.string() })

/** What outlives a process. */
interface Backend {
  readonly stored: Map<string, Stored>
  readonly snapshots: Map<string, ReadonlyMap<string, Uint8Array | undefined>>
  readonly shells: ShellReference[]
}

interface Stored {
  readonly fs: FileSystem
  readonly sessionId: string
}

/** A provider that keeps every clause; its files are not those of its shell. */
export function createReferenceProvider(backend: Backend): WorkspaceProvider {
  const refOf = (id: string): WorkspaceRef => ({
    providerId: 'reference',
    schemaVersion: VERSION,
    capabilities: CAPABILITIES,
    ref: { id },
  })
  const attach = (id: string, stored: Stored): Workspace => {
    const shell = createShellReference()
    backend.shells.push(shell)
    const workspace: Workspace = {
      id,
      isolation: 'process',
      fs: guarded(stored.fs, () => backend.stored.has(id)),
      ...(shell.workspace.shell !== undefined && { shell: shell.workspace.shell }),
      snapshot: createSnapshotter(backend, stored, refOf),
      detach: async () => {},
      close: async () => void backend.stored.delete(id),
    }
    return workspace
  }
  return {
    providerId: 'reference',
    capabilities: CAPABILITIES,
    refSchemaVersion: VERSION,
    parseConfig: (config) => {
      const parsed = configSchema.safeParse(config)
      if (parsed.success) return parsed.data
      throw new WorkspaceFailedError('config-invalid', parsed.error.message)
    },
    open: async (
      _config: { readonly kind: string },
      session: SessionRef,
      options: OpenOptions,
    ): Promise<OpenedWorkspace> => {
      options.signal.throwIfAborted()
      const maxFileMb = options.capabilities.fs?.maxFileSizeMb ?? Infinity
      const id = crypto.randomUUID()
      const fs = createReference(maxFileMb * MEGABYTE)
      const stored = { fs, sessionId: session.sessionId }
      backend.stored.set(id, stored)
      return { ws: attach(id, stored), ref: refOf(id), receipt: { outcome: 'created' } }
    },
    resolve: async (ref: WorkspaceRef, options: ResolveOptions): Promise<OpenedWorkspace> => {
      options.signal.throwIfAborted()
      const format = { ref, providerId: 'reference', schemaVersion: VERSION, schema: payloadSchema }
      const { id } = parseProviderRef({ ...format, upcast: renameOldId })
      const stored = backend.stored.get(id)
      if (stored === undefined) throw new WorkspaceEvictedError('it is gone', { code: 'lost' })
      return { ws: attach(id, stored), ref: refOf(id), receipt: { outcome: 'reattached' } }
    },
  }
}

/** The harness of a provider over a backend of its own. */
export function createReferenceHarness(): ProviderHarness {
  const backend: Backend = { stored: new Map(), snapshots: new Map(), shells: [] }
  return {
    provider: createReferenceProvider(backend),
    config: { kind: 'reference' },
    restart: async () => createReferenceProvider(backend),
    evict: async (ref) => void backend.stored.delete((ref.ref as { id: string }).id),
    olderRef: (ref) => {
      const { id } = ref.ref as { id: string }
      return { ...ref, schemaVersion: VERSION - 1, ref: { workspaceId: id } }
    },
    secrets: [SECRET],
    hostPaths: ['/tmp/', import.meta.dirname],
    dispose: async () => {
      for (const shell of backend.shells) await shell.dispose()
    },
  }
}

/** Version 2 named the id otherwise. */
function renameOldId(payload: unknown): unknown {
  return { id: (payload as { workspaceId?: unknown }).workspaceId }
}

/** Files of a workspace that may vanish. */
function guarded(fs: FileSystem, isThere: () => boolean): FileSystem {
  return new Proxy(fs, {
    get: (target, name) => {
      const method: unknown = Reflect.get(target, name)
      if (typeof method !== 'function') return method
      return async (...args: unknown[]) => {
        if (!isThere()) throw new WorkspaceEvictedError('it is gone', { code: 'lost' })
        return method(...args)
      }
    },
  })
}

function createSnapshotter(
  backend: Backend,
  stored: Stored,
  refOf: (id: string) => WorkspaceRef,
): Snapshotter {
  const fork = async (ref: SnapshotRef, options: SnapshotOptions = {}): Promise<WorkspaceRef> => {
    options.signal?.throwIfAborted()
    const { snapshot, sessionId } = readSnapshotRef(ref)
    const tree = backend.snapshots.get(snapshot)
    if (tree === undefined) throw new WorkspaceFailedError('ref-invalid', 'no such snapshot')
    if (sessionId !== stored.sessionId && !options.allowCrossSession) {
      throw new PolicyError('cross-session', 'the snapshot is of another session')
    }
    const fs = createReference()
    for (const [path, data] of tree) {
      await (data === undefined ? fs.mkdir(path, { recursive: true }) : fs.writeFile(path, data))
    }
    const id = crypto.randomUUID()
    backend.stored.set(id, { ...stored, fs })
    return refOf(id)
  }
  return {
    snapshot: async (options = {}) => {
      options.signal?.throwIfAborted()
      const id = crypto.randomUUID()
      backend.snapshots.set(id, await readTree(stored.fs, '/'))
      return { providerId: 'reference', ref: { snapshot: id, sessionId: stored.sessionId } }
    },
    restore: fork,
    branch: fork,
  }
}

function readSnapshotRef(ref: SnapshotRef): z.output<typeof snapshotSchema> {
  const parsed = snapshotSchema.safeParse(ref.ref)
  if (parsed.success && ref.providerId === 'reference') return parsed.data
  throw new WorkspaceFailedError('ref-invalid', 'not a snapshot of this provider')
}

async function readTree(
  fs: FileSystem,
  directory: string,
): Promise<Map<string, Uint8Array | undefined>> {
  const tree = new Map<string, Uint8Array | undefined>()
  for (const { path, type } of await fs.ls(directory)) {
    tree.set(path, type === 'directory' ? undefined : await fs.readFile(path))
    if (type !== 'directory') continue
    for (const [inner, data] of await readTree(fs, path)) tree.set(inner, data)
  }
  return tree
}
