import { FileSystemError } from '../errors/file-system-error.ts'
import type { FileSystemConfig } from '../modules/fs/config.ts'
import { createTimeSlice } from '../time/slice.ts'
import type { SnapshotEntry } from './manifest.ts'

const BYTES_PER_MB = 1024 * 1024

/**
 * Before a backend is made for files: whether each of them is within the limit of its policy. A provider
 * checks it as well, when it has read that much of a file.
 * @param policy Of the new workspace. Absent: no limit.
 * @throws {FileSystemError} `too-large`, naming the first file.
 */
export async function assertFileSizes(
  entries: readonly SnapshotEntry[],
  policy: Pick<FileSystemConfig, 'maxFileSizeMb'> | undefined,
): Promise<void> {
  if (policy === undefined) return
  const limit = Math.floor(policy.maxFileSizeMb * BYTES_PER_MB)
  const slice = createTimeSlice()
  for (const entry of entries) {
    if (slice.due) await slice.pause()
    if (entry.type !== 'file' || entry.size <= limit) continue
    throw new FileSystemError('too-large', entry.path, {
      detail: `${entry.size} bytes; the limit is ${limit}`,
      hint: 'Raise `maxFileSizeMb` of the workspace, or remove the file.',
    })
  }
}
