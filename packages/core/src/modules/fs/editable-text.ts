import { ToolInputError } from '../../errors/tool-input-error.ts'
import { readText } from './bytes.ts'
import type { FileSystem } from './contract.ts'

/**
 * The text of a file that is about to be rewritten as text.
 * @throws {ToolInputError} `invalid-input` when it is not UTF-8: writing it back would damage it.
 */
export async function readEditableText(fs: FileSystem, path: string): Promise<string> {
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
