import { FileSystemError } from '../../../errors/file-system-error.ts'
import { utf8Length } from '../text/bytes.ts'
import type { FileSystemConfig } from '../config.ts'
import type { FileSystem } from '../contract.ts'
import { normalizePath } from '../path/path.ts'
import { filesBelow } from '../path/subtree.ts'

const BYTES_PER_MB = 1_048_576

/** Rejects files over the limit before anything is allocated, on every way that makes one. */
export function withSizeLimit(fs: FileSystem, config: FileSystemConfig): FileSystem {
  const maxBytes = Math.floor(config.maxFileSizeMb * BYTES_PER_MB)
  const maxGrepMb = config.maxGrepFileSizeMb
  return {
    ...fs,
    writeFile: async (path, data, options) => {
      checkSize(path, data, maxBytes)
      return fs.writeFile(path, data, options)
    },
    appendFile: async (path, data) => {
      checkSize(path, data, maxBytes)
      const size = await sizeOf(fs, path)
      if (size > 0) checkSize(path, data, maxBytes, size)
      return fs.appendFile(path, data)
    },
    copy: async (from, to, options) => {
      for await (const file of filesBelow(fs, from)) {
        if (file.size > maxBytes) throw tooLarge(to, file.size, maxBytes)
      }
      return fs.copy(from, to, options)
    },
    writeStream: async (path, source, options) =>
      fs.writeStream(path, source.pipeThrough(countedStream(path, maxBytes)), options),
    grep: (pattern, options) => {
      const wanted = options?.maxGrepFileSizeMb ?? maxGrepMb
      return fs.grep(pattern, { ...options, maxGrepFileSizeMb: Math.min(wanted, maxGrepMb) })
    },
  }
}

function checkSize(path: string, data: Uint8Array | string, maxBytes: number, existing = 0): void {
  const room = maxBytes - existing
  // A UTF-16 unit is 1 to 3 bytes: most texts need no exact count.
  if (typeof data === 'string' && data.length * 3 <= room) return
  const isOver = typeof data === 'string' && data.length > room
  const length =
    typeof data !== 'string' ? data.byteLength : isOver ? data.length : utf8Length(data)
  if (length > room) throw tooLarge(path, existing + length, maxBytes)
}

function tooLarge(path: string, size: number, maxBytes: number): FileSystemError {
  return new FileSystemError('too-large', path, {
    detail: `${size} bytes; at most ${maxBytes} are allowed`,
  })
}

/** Passes bytes on until there are too many. */
function countedStream(path: string, maxBytes: number): TransformStream<Uint8Array, Uint8Array> {
  let size = 0
  return new TransformStream({
    transform(chunk, controller) {
      size += chunk.byteLength
      if (size > maxBytes) controller.error(tooLarge(path, size, maxBytes))
      else controller.enqueue(chunk)
    },
  })
}

/** 0 for what is not there. */
async function sizeOf(fs: FileSystem, path: string): Promise<number> {
  try {
    return (await fs.stat(normalizePath(path))).size
  } catch (error) {
    if (FileSystemError.isInstance(error) && error.code === 'not-found') return 0
    throw error
  }
}
