// A provider that a process reaches through calls at which it can die.
import type {
  FileSystem,
  OpenedWorkspace,
  SnapshotRef,
  Workspace,
  WorkspaceProvider,
} from '@helix-agents/core/provider'
import type { DyingProcess } from './process.ts'

/** Paths and texts of all files of a workspace; a directory has no text. */
export type Tree = Readonly<Record<string, string | null>>

/** Is told what a snapshot has to hold. */
export type OnTaken = (ref: SnapshotRef, tree: Tree) => void

/** Everything in a workspace. */
export async function treeOf(files: FileSystem, directory = '/'): Promise<Tree> {
  const tree: Record<string, string | null> = {}
  for (const { path, type } of await files.ls(directory)) {
    tree[path] = type === 'directory' ? null : new TextDecoder().decode(await files.readFile(path))
    if (type === 'directory') Object.assign(tree, await treeOf(files, path))
  }
  return tree
}

/** The provider, its workspaces, their files and their snapshots, as one process reaches them. */
export function dyingProvider(
  process: DyingProcess,
  provider: WorkspaceProvider,
  onTaken: OnTaken,
): WorkspaceProvider {
  const { providerId: name, history } = provider
  const opening =
    (key: 'open' | 'resolve') =>
    (...given: unknown[]) =>
      process.call(`${name}.${key}`, async () => {
        const opened = (await Reflect.apply(provider[key], provider, given)) as OpenedWorkspace
        return { ...opened, ws: dyingWorkspace(process, opened.ws, onTaken) }
      })
  const own = { open: opening('open'), resolve: opening('resolve') }
  const wrappedHistory = history && process.wrap(`${name}.history`, history)
  const release = provider.release?.bind(provider)
  return new Proxy(provider, {
    get: (target, key) => {
      if (key === 'open' || key === 'resolve') return own[key]
      if (key === 'history') return wrappedHistory
      if (key === 'release' && release !== undefined) {
        return (...given: Parameters<typeof release>) =>
          process.call(`${name}.release`, () => release(...given))
      }
      const value: unknown = Reflect.get(target, key, target)
      return typeof value === 'function' ? (value.bind(target) as unknown) : value
    },
  })
}

function dyingFiles(process: DyingProcess, files: FileSystem): FileSystem {
  const { attributes } = files
  const withoutLinks = files.withoutLinks?.bind(files)
  return process.wrap('fs', files, {
    ...(attributes && { attributes: process.wrap('attributes', attributes) }),
    ...(withoutLinks && { withoutLinks: () => dyingFiles(process, withoutLinks()) }),
  })
}

function dyingWorkspace(process: DyingProcess, ws: Workspace, onTaken: OnTaken): Workspace {
  const { fs: files, snapshot } = ws
  const fs = files && dyingFiles(process, files)
  const take = async (...given: Parameters<NonNullable<typeof snapshot>['snapshot']>) => {
    if (snapshot === undefined || files === undefined) throw new TypeError('no snapshots')
    return process.call('snapshot.take', async () => {
      const tree = await process.quietly(() => treeOf(files))
      const ref = await snapshot.snapshot(...given)
      onTaken(ref, tree)
      return ref
    })
  }
  const own = { fs, snapshot: snapshot && process.wrap('snapshot', snapshot, { snapshot: take }) }
  return new Proxy(ws, {
    get: (target, key) => {
      if (key === 'fs' || key === 'snapshot') return own[key]
      const value: unknown = Reflect.get(target, key, target)
      if (typeof value !== 'function') return value
      return (...given: unknown[]): unknown =>
        process.call(`ws.${String(key)}`, () => Reflect.apply(value, target, given) as unknown)
    },
  })
}
