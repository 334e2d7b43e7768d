import { closeSync, fchmodSync, openSync, readlinkSync, symlinkSync } from 'node:fs'
import { FileSystemError } from '@helix-agents/core'
import {
  createTimeSlice,
  type FileAttributes,
  type FileMode,
  isInnerTarget,
  normalizePath,
} from '@helix-agents/core/provider'
import type { FileContext } from './file-context.ts'
import { toFileSystemError } from './map-error.ts'
import { READ } from './path/open-flags.ts'

const PERMISSIONS = 0o777

type Place = ReturnType<FileContext['containment']['locate']>

/** Links and permissions, by descriptors below the root: a link on the way is `path-escape`. */
export function createAttributes(
  context: FileContext,
): Required<Omit<FileAttributes, 'readAhead'>> {
  const containment = context.containment.withoutLinks()
  const at = <T>(path: string, use: (host: string, place: Place) => T): T => {
    const normal = normalizePath(path)
    const place = containment.locate(normal, { followLast: false, createParents: false })
    try {
      return use(place.directory.at(place.name), place)
    } catch (error) {
      throw toFileSystemError(error, normal)
    } finally {
      place.directory.close()
    }
  }
  const writeMode = ({ path, mode }: FileMode): void =>
    at(path, (host) => {
      const fd = openSync(host, READ)
      try {
        fchmodSync(fd, mode & PERMISSIONS)
      } finally {
        closeSync(fd)
      }
    })
  return {
    readLink: async (path) => at(path, (host) => readlinkSync(host)),
    makeLink: async (path, target) => {
      if (!isInnerTarget(normalizePath(path), target)) {
        throw new FileSystemError('path-escape', path, { detail: 'the link may lead out' })
      }
      at(path, (host) => symlinkSync(target, host))
    },
    readMode: async (path) =>
      at(path, (_, { stats }) => {
        if (stats !== undefined) return Number(stats.mode) & PERMISSIONS
        throw new FileSystemError('not-found', path)
      }),
    writeModes: async (modes, { signal } = {}) => {
      const slice = createTimeSlice()
      for (const mode of modes) {
        signal?.throwIfAborted()
        writeMode(mode)
        if (slice.due) await slice.pause()
      }
    },
  }
}
