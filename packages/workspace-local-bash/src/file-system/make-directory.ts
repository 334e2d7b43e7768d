import { mkdirSync } from 'node:fs'
import { FileSystemError } from '@helix-agents/core'
import type { FileContext } from './file-context.ts'
import { errnoOf, toFileSystemError } from './map-error.ts'

/** Makes a directory; with `isRecursive` its parents too, and an existing one is fine. */
export function makeDirectory(context: FileContext, path: string, isRecursive: boolean): void {
  const options = { followLast: true, createParents: isRecursive }
  const place = context.containment.locate(path, options)
  try {
    if (place.stats !== undefined)
      return checkExisting(path, isRecursive && place.stats.isDirectory())
    mkdirSync(place.directory.at(place.name))
  } catch (error) {
    // Another process made it after the check.
    if (isRecursive && errnoOf(error) === 'EEXIST') return makeDirectory(context, path, true)
    throw toFileSystemError(error, path)
  } finally {
    place.directory.close()
  }
}

function checkExisting(path: string, isFine: boolean): void {
  if (!isFine) throw new FileSystemError('already-exists', path)
}
