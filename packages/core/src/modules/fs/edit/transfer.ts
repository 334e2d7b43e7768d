import * as z from 'zod'
import { type FileChange, requireRead, statIfPresent, staleWrite } from './rewrite-file.ts'

/** Arguments of `copy` and `move`. */
export const transferInput = () =>
  z.strictObject({
    from: z.string().describe('Path of the file or directory.'),
    to: z.string().describe('Its new path, name included.'),
    opts: z.strictObject({ overwrite: z.boolean().exactOptional() }).exactOptional(),
  })

/**
 * Guards the file that a copy or a move would replace.
 * @throws {FileSystemError} `stale-write` when it is not what this agent last saw.
 */
export async function rejectStaleTarget(change: FileChange, to: string): Promise<void> {
  const { module, context } = change
  const target = await statIfPresent(module, to)
  if (target === undefined || target.type === 'directory') return
  const stale = context.ledger.check(context.actor, to, target.version)
  if (stale !== undefined) throw staleWrite(target, stale.writer)
  requireRead(change, to)
}
