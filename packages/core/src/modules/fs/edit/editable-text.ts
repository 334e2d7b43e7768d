import { FileSystemError } from '../../../errors/file-system-error.ts'
import { ToolInputError } from '../../../errors/tool-input-error.ts'
import { readText } from '../text/bytes.ts'
import type { FileSystemConfig } from '../config.ts'
import type { FileStat, FileSystem } from '../contract.ts'

const BYTES_PER_MB = 1_048_576
/** No text may be longer, whatever the policy says: runtimes have no strings over 512 MB. */
const MAX_TEXT_BYTES = 256 * BYTES_PER_MB

/** Bytes that a file may have to be edited as text. */
export function maxEditedBytes(config: FileSystemConfig): number {
  return Math.min(Math.floor(config.maxFileSizeMb * BYTES_PER_MB), MAX_TEXT_BYTES)
}

/**
 * Rejects a file that is too large to be edited, before anything of it is read.
 * @throws {FileSystemError} `too-large`.
 */
export function rejectLarge(stat: FileStat, maxBytes: number): void {
  if (stat.size <= maxBytes) return
  throw new FileSystemError('too-large', stat.path, {
    detail: `${stat.size} bytes; files of at most ${maxBytes} can be edited`,
    hint: 'Read parts of it with read_file; change it with a command, or write smaller files.',
  })
}

/**
 * The text of a file that is about to be rewritten as text.
 * @throws {FileSystemError} `too-large`, decided by its size alone.
 * @throws {ToolInputError} `invalid-input` when it is not UTF-8: writing it back would damage it.
 */
export async function readEditableText(
  fs: FileSystem,
  stat: FileStat,
  maxBytes: number,
): Promise<string> {
  const { path } = stat
  rejectLarge(stat, maxBytes)
  const text = await readText(fs, path)
  // The replacement character stands for bytes that were lost, or for itself.
  if (!text.includes('\uFFFD') || isUtf8(await fs.readFile(path))) return text
  throw new ToolInputError('invalid-input', `${JSON.stringify(path)} is not UTF-8 text`, {
    hint: 'Only UTF-8 text can be edited: anything else would be damaged.',
  })
}

function isUtf8(bytes: Uint8Array): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    return true
  } catch (error) {
    if (error instanceof TypeError) return false
    throw error
  }
}
