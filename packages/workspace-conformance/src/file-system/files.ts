import type { FileSystem } from '@helix-agents/core/provider'
import { textOf } from '../assert.ts'
import type { Behaviour } from '../behaviour.ts'

/** A clause about files. */
export type FileSystemBehaviour = Behaviour<FileSystem>

/** Writes several text files, one after the other. */
export async function writeFiles(
  fs: FileSystem,
  files: Readonly<Record<string, string>>,
): Promise<void> {
  for (const [path, content] of Object.entries(files)) await fs.writeFile(path, content)
}

/** A file as text. */
export async function read(fs: FileSystem, path: string): Promise<string> {
  return textOf(await fs.readFile(path))
}

/** Names in a directory. */
export async function names(fs: FileSystem, path: string): Promise<string[]> {
  return (await fs.ls(path)).map((entry) => entry.name)
}

/** A file as text, or the code of the error. */
export async function readOrCode(fs: FileSystem, path: string): Promise<string> {
  try {
    return await read(fs, path)
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : String(error)
  }
}

/** A stream of the given pieces. */
export function streamOf(...pieces: readonly (Uint8Array | string)[]): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  return new ReadableStream({
    start(controller) {
      for (const piece of pieces) {
        controller.enqueue(typeof piece === 'string' ? encoder.encode(piece) : piece)
      }
      controller.close()
    },
  })
}

/** A stream that breaks after its first piece. */
export function brokenStream(): ReadableStream<Uint8Array> {
  let pulls = 0
  return new ReadableStream({
    pull(controller) {
      pulls += 1
      if (pulls === 1) controller.enqueue(new TextEncoder().encode('half'))
      else controller.error(new Error('the source broke'))
    },
  })
}

/** Every byte of a stream. */
export async function collect(stream: ReadableStream<Uint8Array>): Promise<Uint8Array> {
  const pieces: number[] = []
  const reader = stream.getReader()
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    for (const byte of next.value) pieces.push(byte)
  }
  return Uint8Array.from(pieces)
}
