import type { RestoreReceipt } from '../../workspace/provider.ts'

/** What the model must read about an open, or undefined when nothing changed for it. */
export function noticeOf(
  workspace: string,
  receipt: RestoreReceipt,
  isOfBranch = false,
): string | undefined {
  const detail = receipt.detail === undefined ? '' : ` ${receipt.detail}`
  if (receipt.outcome === 'cold' && isOfBranch) {
    return `Workspace "${workspace}" is a new one of this branch: files and processes of earlier messages are not in it. They are with the session that this one was branched from.${detail}`
  }
  if (receipt.outcome === 'cold') {
    return `Workspace "${workspace}" was started afresh: its earlier files and processes are gone.${detail}`
  }
  if (receipt.outcome === 'restored') {
    return `Workspace "${workspace}" was restored: changes since then are gone.${detail}`
  }
  // A restore or a branch made it, and could not bring everything.
  if (receipt.outcome === 'reattached' && receipt.detail !== undefined) {
    return `Workspace "${workspace}" was opened again.${detail}`
  }
  return undefined
}
