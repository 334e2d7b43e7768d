import { FileSystemError } from '../../../errors/file-system-error.ts'
import type { FileSystem } from '../contract.ts'

/** Rejects every change. */
export function withReadOnly(fs: FileSystem): FileSystem {
  return {
    ...fs,
    writeFile: reject,
    appendFile: reject,
    mkdir: reject,
    rm: reject,
    copy: async (_from, to) => reject(to),
    move: reject,
    writeStream: async (path, source) => {
      await source.cancel()
      return reject(path)
    },
  }
}

async function reject(path: string): Promise<never> {
  throw new FileSystemError('read-only', path, {
    detail: 'the files of this workspace may be read but not changed',
  })
}
