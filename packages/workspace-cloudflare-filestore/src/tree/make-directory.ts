import { FileSystemError } from '@helix-agents/core'
import { normalizePath, parentPath } from '@helix-agents/core/provider'
import type { StoreContext } from '../store-context.ts'
import { checkQuota } from './quota.ts'
import { makeDirectory, makeParents } from './store-node.ts'
import { isDirectory, resolveTarget } from './write-target.ts'

/** Makes a directory, with `recursive` also its parents. */
export function mkdir(context: StoreContext, path: string, recursive: boolean): void {
  const normal = normalizePath(path)
  context.database.transaction(() => {
    const target = resolveTarget(context, normal)
    const isThere = isDirectory(target)
    if (isThere && recursive) return
    if (isThere || target.node !== undefined) throw new FileSystemError('already-exists', path)
    if (target.missing.length > 0 && !recursive) {
      throw new FileSystemError('not-found', parentPath(normal))
    }
    checkQuota(context, target, { bytes: 0, files: target.missing.length + 1 })
    makeParents(context, target)
    makeDirectory(context, normal, target.version)
  })
}
