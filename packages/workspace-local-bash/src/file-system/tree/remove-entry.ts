import { lstatSync, rmdir, rmdirSync, unlink, unlinkSync } from 'node:fs'
import { promisify } from 'node:util'
import { LARGE_DIRECTORY_BYTES } from './read-sorted.ts'

const rmdirLater = promisify(rmdir)
const unlinkLater = promisify(unlink)

/** To free what a file of this size has in memory and on disk takes the system a while. */
const LARGE_FILE_BYTES = 64 * 1024 * 1024

/**
 * Removes an empty directory; in the background when it once held many entries, which takes the
 * system long.
 * @throws the system's error.
 */
export async function removeDirectory(path: string | Buffer): Promise<void> {
  if (sizeOf(path) > LARGE_DIRECTORY_BYTES) await rmdirLater(path)
  else rmdirSync(path)
}

/** Removes a file or a link; a large file in the background. @throws the system's error. */
export async function removeFile(path: string | Buffer): Promise<void> {
  if (sizeOf(path) > LARGE_FILE_BYTES) await unlinkLater(path)
  else unlinkSync(path)
}

function sizeOf(path: string | Buffer): number {
  return lstatSync(path, { throwIfNoEntry: false })?.size ?? 0
}
