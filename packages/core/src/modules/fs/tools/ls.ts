import * as z from 'zod'
import type { FileEntry } from '../contract.ts'
import { resultLimits } from '../result-limits.ts'
import { workspaceDirectory } from '../path/workspace-path.ts'
import { fitLines } from '../text/fit-lines.ts'
import { directoryPath, firstEntry, fsTool, READ_ONLY } from './fs-tool.ts'

export interface LsOutput {
  readonly path: string
  /** The entries from `offset` on. */
  readonly entries: readonly FileEntry[]
  /** Number of the first entry, from 1. */
  readonly offset: number
  /** Entries of the directory. */
  readonly total: number
}

export const lsTool = fsTool({
  name: 'ls',
  description:
    'List a directory, sorted by name: directories end with /, links with @, files show their size in bytes. A long list comes in parts: the end of a result says which offset continues it.',
  inputSchema: () =>
    z.strictObject({
      path: directoryPath.exactOptional().describe('Directory to list. Default: the root.'),
      offset: firstEntry,
    }),
  annotations: READ_ONLY,
  paths: ({ path = '/' }) => [{ path: path === '' ? '/' : path }],
  execute: async ({ module, input, context }): Promise<LsOutput> => {
    const path = await workspaceDirectory(input.path, context)
    const all = await module.ls(path)
    const offset = input.offset ?? 1
    const part = all.slice(offset - 1, offset - 1 + resultLimits.entries)
    const shown = fitLines(part.map(renderEntry), resultLimits.characters)
    return { path, entries: part.slice(0, shown), offset, total: all.length }
  },
  toModelOutput: (output) => {
    const { path, entries, offset, total } = output
    if (total === 0) return `${path}: empty directory`
    if (entries.length === 0) return `${path}: ${total} entries; the offset is past the end`
    const next = offset + entries.length
    const rest = next > total ? '' : `\n[entries ${next}-${total} not shown: offset: ${next}]`
    return `${path}: ${total} entries\n${entries.map(renderEntry).join('\n')}${rest}`
  },
})

function renderEntry(entry: FileEntry): string {
  // A line feed in a name would look like another entry.
  const name = entry.name.includes('\n') ? JSON.stringify(entry.name) : entry.name
  if (entry.type === 'directory') return `${name}/`
  if (entry.type === 'symlink') return `${name}@`
  if (entry.type === 'other') return `${name}  pipe, socket or device`
  return `${name}  ${entry.size ?? 0}`
}
