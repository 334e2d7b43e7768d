import type { ModuleToolContext } from '../../define-module.ts'
import { isWithin, normalizePath } from './path.ts'
import { statIfPresent } from '../edit/rewrite-file.ts'

/** What of a tool call decides which file a path means. */
export type PathContext = Pick<ModuleToolContext, 'files' | 'shellRoot'>

/**
 * The file that a path in a tool call means, normalised. Commands print paths as the shell sees
 * them, and models pass these on: below the directory that is the shell's root they mean the same
 * file, unless the workspace has a directory of that name itself.
 * @throws {FileSystemError} `path-escape`, `invalid-path`
 */
export async function workspacePath(
  path: string,
  { files, shellRoot: root = '/' }: PathContext,
): Promise<string> {
  const normal = normalizePath(path)
  if (root === '/' || !path.startsWith('/') || !isWithin(normal, root)) return normal
  if (files !== undefined && (await statIfPresent(files, root)) !== undefined) return normal
  return normal === root ? '/' : normal.slice(root.length)
}

/** The same for a directory; models write the root as nothing, too. */
export async function workspaceDirectory(
  path: string | undefined,
  context: PathContext,
): Promise<string> {
  return path === undefined || path === '' ? '/' : workspacePath(path, context)
}
