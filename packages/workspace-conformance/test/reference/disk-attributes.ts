// Links and permissions of a directory; nothing here is safe against others that change it meanwhile.
import { chmodSync, lstatSync, readlinkSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { FileSystemError } from '@helix-agents/core'
import { type FileAttributes, isInnerTarget, normalizePath } from '@helix-agents/core/provider'

type RealPath = (path: string) => Promise<string>

export function createDiskAttributes(root: string, realPath: RealPath): FileAttributes {
  const place = async (path: string): Promise<string> => {
    const normal = normalizePath(path)
    const directory = dirname(normal)
    if ((await realPath(directory)) !== directory) throw new FileSystemError('path-escape', path)
    return join(root, normal)
  }
  const existing = async (path: string) => {
    const host = await place(path)
    const stats = lstatSync(host, { throwIfNoEntry: false })
    if (stats === undefined) throw new FileSystemError('not-found', path)
    if (stats.isSymbolicLink()) throw new FileSystemError('path-escape', path)
    return { host, mode: stats.mode & 0o777 }
  }
  return {
    readMode: async (path) => (await existing(path)).mode,
    writeModes: async (modes) => {
      for (const { path, mode } of modes) chmodSync((await existing(path)).host, mode)
    },
    readLink: async (path) => {
      const host = await place(path)
      const isLink = lstatSync(host, { throwIfNoEntry: false })?.isSymbolicLink() === true
      if (!isLink) throw new FileSystemError('not-found', path)
      return readlinkSync(host)
    },
    makeLink: async (path, target) => {
      if (!isInnerTarget(path, target)) throw new FileSystemError('path-escape', path)
      const host = await place(path)
      if (lstatSync(host, { throwIfNoEntry: false }) !== undefined) {
        throw new FileSystemError('already-exists', path)
      }
      symlinkSync(target, host)
    },
  }
}
