import { FileSystemError } from '../../../errors/file-system-error.ts'
import type { FileSystem } from '../contract.ts'

/** Refuses every change. */
export function withReadOnly(fs: FileSystem): FileSystem {
  return {
    ...fs,
    writeFile: refuse,
    appendFile: refuse,
    mkdir: refuse,
    rm: refuse,
    copy: async (_from, to) => refuse(to),
    move: refuse,
    writeStream: async (path, source) => {
      await source.cancel()
      return refuse(path)
    },
  }
}

async function refuse(path: string): Promise<never> {
  throw new FileSystemError('read-only', path, {
    detail: 'the files of this workspace may be read but not changed',
  })
}
