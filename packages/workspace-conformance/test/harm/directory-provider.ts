import { cpSync, existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { posix } from 'node:path'
import { WorkspaceEvictedError, WorkspaceFailedError } from '@helix-agents/core'
import {
  type FileSystem,
  normalizePath,
  type OpenedWorkspace,
  type SessionRef,
  type Snapshotter,
  type Workspace,
  type WorkspaceProvider,
} from '@helix-agents/core/provider'
import { createHostFiles, type Mapping } from './host-files.ts'
import type { ThrowAwayHost } from './throw-away-host.ts'

/** Where the workspaces of the provider are, on its host. */
export const BASE = '/data/ws'
const SNAPSHOTS = '/data/snapshots'

/** What a directory provider gets wrong. Without any of it, it does what the kit's safety needs. */
export interface Bugs {
  /** Calls that follow `..` out of the workspace. */
  readonly followDots?: readonly (keyof FileSystem)[]
  /** Calls that take a path of the workspace for one of the host. */
  readonly forgetRoot?: readonly (keyof FileSystem)[]
  /** Takes the root for that of the host, or every path of a recursive call, in `rm`. */
  readonly forgetInRm?: 'root' | 'recursive'
  /** Makes a path of whatever id stands in a ref, and removes that when it is closed. */
  readonly trustIds?: 'join' | 'resolve' | 'make'
  /** Removes the directory on `detach` as well. */
  readonly removeOnDetach?: true
  /** Takes whatever path stands in a ref of a snapshot. */
  readonly trustSnapshots?: 'copy' | 'move' | 'adopt'
  /** How a directory is called; by default as nothing else is. */
  readonly nameOf?: (session: SessionRef, workspace: string) => string
}

const CAPABILITIES = { fs: true, snapshot: true } as const

/** A provider on the directories of a host, with bugs; everything that it can reach is thrown away. */
export function createDirectoryProvider(host: ThrowAwayHost, bugs: Bugs): WorkspaceProvider {
  const attach = (directory: string, id: string, outcome: 'created' | 'reattached') => {
    const root = host.path(directory)
    const remove = async (): Promise<void> => rmSync(root, { recursive: true, force: true })
    const ws: Workspace = {
      id,
      isolation: 'none',
      fs: createHostFiles(host, (call) => mappingOf(bugs, directory, call)),
      snapshot: createSnapshotter(host, bugs, directory),
      detach: bugs.removeOnDetach === true ? remove : async () => {},
      close: remove,
    }
    const ref = {
      providerId: 'directory',
      schemaVersion: 1,
      capabilities: CAPABILITIES,
      ref: { id },
    }
    return { ws, ref, receipt: { outcome } } as OpenedWorkspace
  }
  return {
    providerId: 'directory',
    capabilities: CAPABILITIES,
    refSchemaVersion: 1,
    open: async (_config, session, { workspace }) => {
      const id = bugs.nameOf?.(session, workspace) ?? `ws-${crypto.randomUUID()}`
      const directory = posix.join(BASE, id)
      mkdirSync(host.path(directory), { recursive: true })
      return attach(directory, id, 'created')
    },
    resolve: async ({ ref }) => {
      const id = String((ref as { id?: unknown } | null)?.id)
      const directory = directoryOf(bugs, id)
      if (bugs.trustIds === 'make') mkdirSync(host.path(directory), { recursive: true })
      if (!existsSync(host.path(directory)))
        throw new WorkspaceEvictedError('gone', { code: 'lost' })
      return attach(directory, id, 'reattached')
    },
  }
}

function mappingOf(bugs: Bugs, root: string, call: keyof FileSystem): Mapping {
  if (bugs.forgetRoot?.includes(call) === true) return (path) => path
  if (bugs.followDots?.includes(call) === true) return (path) => posix.join(root, path)
  return (path, isRecursive) => {
    const normal = normalizePath(path)
    const { forgetInRm } = bugs
    const isForgotten = forgetInRm === 'root' ? normal === '/' : isRecursive === true
    return call === 'rm' && forgetInRm !== undefined && isForgotten
      ? normal
      : posix.join(root, normal)
  }
}

function directoryOf({ trustIds }: Bugs, id: string): string {
  if (trustIds === 'resolve') return posix.resolve(BASE, id)
  if (trustIds !== undefined) return posix.join(BASE, id)
  if (/^ws-[0-9a-f-]{36}$/.test(id)) return posix.join(BASE, id)
  throw new WorkspaceFailedError('ref-invalid', 'no id of this provider')
}

function createSnapshotter(host: ThrowAwayHost, bugs: Bugs, root: string): Snapshotter {
  const { trustSnapshots } = bugs
  const restore: Snapshotter['restore'] = async ({ ref }) => {
    const id = String((ref as { id?: unknown } | null)?.id)
    if (trustSnapshots === undefined && !/^[0-9a-f-]{36}$/.test(id)) {
      throw new WorkspaceFailedError('ref-invalid', 'no snapshot of this provider')
    }
    const from = host.path(posix.resolve(SNAPSHOTS, id))
    if (!existsSync(from)) throw new WorkspaceFailedError('ref-invalid', 'no such snapshot')
    const workspace = `ws-${crypto.randomUUID()}`
    const to = host.path(posix.join(BASE, workspace))
    if (trustSnapshots === 'move') renameSync(from, to)
    else cpSync(from, to, { recursive: true })
    const name =
      trustSnapshots === 'adopt' ? posix.relative(BASE, posix.resolve(SNAPSHOTS, id)) : workspace
    return {
      providerId: 'directory',
      schemaVersion: 1,
      capabilities: CAPABILITIES,
      ref: { id: name },
    }
  }
  return {
    restore,
    snapshot: async () => {
      const id = crypto.randomUUID()
      cpSync(host.path(root), host.path(posix.join(SNAPSHOTS, id)), { recursive: true })
      return { providerId: 'directory', ref: { id } }
    },
  }
}
