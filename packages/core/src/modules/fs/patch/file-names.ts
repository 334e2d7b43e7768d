import type { ModuleToolContext } from '../../define-module.ts'
import { statIfPresent, type FileChange } from '../edit/rewrite-file.ts'
import { workspacePath } from '../path/workspace-path.ts'
import { patchFailed, type PatchSection } from './patch-model.ts'

/** The files of a section, normalised. */
export interface SectionPaths {
  readonly from?: string
  readonly to?: string
}

/**
 * The files that a section names. `a/` and `b/` are those of git when both are there; a name
 * that begins with only one of them may mean a folder: then the other files of the patch decide,
 * or what there is, and a name that stays uncertain rejects the patch.
 *
 * @throws {ToolInputError} `patch-failed`.
 * @throws {FileSystemError} `path-escape`, `invalid-path`.
 */
export async function resolveNames(
  change: FileChange,
  section: PatchSection,
  sections: readonly PatchSection[],
): Promise<SectionPaths> {
  const { from, to } = section
  const hasPrefixes =
    section.hasPrefixes ?? styleOf(sections) ?? (await guessPrefixes(change, section))
  const path = async (name: string) =>
    workspacePath(hasPrefixes ? withoutPrefix(name) : name, change.context)
  return {
    ...(from !== undefined && { from: await path(from) }),
    ...(to !== undefined && { to: await path(to) }),
  }
}

function withoutPrefix(name: string): string {
  return name.replace(/^[abciow]\//, '')
}

/** How the certain ones of the other files are named, when they agree. */
function styleOf(sections: readonly PatchSection[]): boolean | undefined {
  const styles = new Set<boolean>()
  for (const { hasPrefixes, from, to } of sections) {
    const isTwoSided = from !== undefined && to !== undefined && from !== to
    if (hasPrefixes === true || (hasPrefixes === false && !isTwoSided)) styles.add(hasPrefixes)
  }
  return styles.size === 1 ? [...styles][0] : undefined
}

async function guessPrefixes(change: FileChange, section: PatchSection): Promise<boolean> {
  const { from, to = '', at } = section
  const name = from ?? to
  if (from === undefined) {
    // A new file: is there a folder of that name?
    const folder = await exists(change, name.slice(0, 1))
    if (!folder) return true
    throw uncertain(name, at)
  }
  const isFolder = await exists(change, name)
  const isPrefix = await exists(change, withoutPrefix(name))
  if (isFolder && isPrefix && from !== to) throw uncertain(name, at)
  return !isFolder
}

async function exists({ module, context }: FileChange, name: string): Promise<boolean> {
  return (await statIfPresent(module, await pathOf(name, context))) !== undefined
}

async function pathOf(name: string, context: ModuleToolContext): Promise<string> {
  return workspacePath(name, context)
}

function uncertain(name: string, at: number): Error {
  const folder = name.slice(0, 1)
  return patchFailed(
    `${JSON.stringify(name)} (line ${at} of the patch) may be a file of the folder ${folder}, or have the prefix of git`,
    `Write the name with a slash in front: /${name} is in the folder, /${withoutPrefix(name)} is not.`,
  )
}
