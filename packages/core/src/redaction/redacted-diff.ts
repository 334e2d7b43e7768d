import { onDemand } from '../door.ts'
import type { FileDiff, FileSides } from '../modules/fs/edit/file-diff.ts'
import type { WorkTurn } from '../modules/fs/edit/work-turn.ts'

/**
 * The unified diff of a whole change, as a person reads it, without what looks like a credential. Costs
 * little where little changes.
 */
export async function redactedDiff(sides: FileSides, turn: WorkTurn): Promise<FileDiff> {
  const { fileDiff, MAX_REDACTED, redactText } = await onDemand()
  const { diff, isCut } = await fileDiff(sides, turn)
  return { diff: redactText(diff), isCut: isCut || diff.length > MAX_REDACTED }
}
