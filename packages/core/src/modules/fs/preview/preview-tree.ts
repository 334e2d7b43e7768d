import type { ModulePreview } from '../../../permissions/module-preview.ts'
import type { FileChange } from '../edit/rewrite-file.ts'
import { workspacePath } from '../path/workspace-path.ts'
import { describeTarget } from './describe-target.ts'

/** What `rm` removes. */
export async function previewRemoval(
  change: FileChange,
  input: { readonly path: string; readonly isRecursive: boolean },
): Promise<ModulePreview> {
  const { module, context } = change
  const path = await workspacePath(input.path, context)
  if (await isLink(change, path)) {
    return { title: `remove the link ${path}: what it leads to stays` }
  }
  const { signal } = context
  const target = await describeTarget(module, path, { isTree: input.isRecursive, signal })
  const title = `remove ${path}: ${target.summary}`
  if (target.names.length === 0) return { title }
  return { title, body: target.names.join('\n'), truncated: target.isCut }
}

/** What `copy` and `move` do: what is at both ends now. */
export async function previewTransfer(
  change: FileChange,
  verb: 'copy' | 'move',
  input: { readonly from: string; readonly to: string },
): Promise<ModulePreview> {
  const { module, context } = change
  const from = await workspacePath(input.from, context)
  const to = await workspacePath(input.to, context)
  const { signal } = context
  const source = await describeTarget(module, from, { signal })
  const target = await describeTarget(module, to, { isTree: false })
  const lines = [`${from}: ${source.summary}`, `${to}: ${target.summary}`, ...source.names]
  return { title: `${verb} ${from} to ${to}`, body: lines.join('\n'), truncated: source.isCut }
}

async function isLink({ context }: FileChange, path: string): Promise<boolean> {
  const { files } = context
  if (files?.realPath === undefined) return false
  const [kept, followed] = [
    await files.realPath(path, { followLast: false }),
    await files.realPath(path),
  ]
  return kept !== followed
}
