import type { BoundFiles } from './bound-subject.ts'

/** An argument of a million characters. */
export const MEGABYTE_TEXT = 'a'.repeat(1_000_000)

/** A file of one text, again and again, of about so many bytes. */
export async function writeRepeated(
  fs: BoundFiles,
  path: string,
  piece: string,
  bytes: number,
): Promise<void> {
  const size = new TextEncoder().encode(piece).length
  await fs.writeFile(path, piece.repeat(Math.floor(bytes / size)))
}

/** Many small files in one directory. */
export async function fillDirectory(
  fs: BoundFiles,
  directory: string,
  count: number,
  file: { readonly prefix?: string; readonly content?: string } = {},
): Promise<void> {
  const { prefix = 'file', content = 'x\n' } = file
  for (let i = 0; i < count; i += 1) await fs.writeFile(`${directory}/${prefix}-${i}`, content)
}
