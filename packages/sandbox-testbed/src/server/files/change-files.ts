import { execFile } from 'node:child_process'
import { lstatSync, mkdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import { timestamp } from '../server-sent-events.ts'
import { errnoOf, messageOf, ServiceError } from '../service-error.ts'
import { type FailurePlace, notFound, toFileError, toolFailure } from './file-error.ts'
import type { NamedFile } from './read-file.ts'

const run = promisify(execFile)

/** @throws {ServiceError} `FILESYSTEM_ERROR` for whatever stands in the way. */
export function makeDirectory(file: NamedFile, recursive: boolean): object {
  try {
    mkdirSync(file.resolved, { recursive })
  } catch (error) {
    throw toolFailure(messageOf(error), { operation: 'mkdir', path: file.path })
  }
  return { success: true, path: file.path, recursive, timestamp: timestamp(), exitCode: 0 }
}

/** @throws {ServiceError} `FILE_NOT_FOUND`, `IS_DIRECTORY`. */
export function deleteOne(file: NamedFile): object {
  const place = { operation: 'delete', path: file.path }
  const stats = lstatSync(file.resolved, { throwIfNoEntry: false })
  if (stats === undefined) throw notFound(place)
  if (stats.isDirectory()) {
    throw new ServiceError('IS_DIRECTORY', `${file.path} is a directory`, place)
  }
  try {
    rmSync(file.resolved)
  } catch (error) {
    throw toFileError(error, place)
  }
  return { success: true, path: file.path, timestamp: timestamp(), exitCode: 0 }
}

/**
 * Moves as the shell does: into an existing directory, and the reply names that directory.
 * @throws {ServiceError} `FILE_NOT_FOUND`, `FILESYSTEM_ERROR`.
 */
export async function moveOne(from: NamedFile, to: NamedFile, operation: string): Promise<object> {
  const place = { operation, path: from.path }
  if (lstatSync(from.resolved, { throwIfNoEntry: false }) === undefined) throw notFound(place)
  const isInto = statSync(to.resolved, { throwIfNoEntry: false })?.isDirectory() === true
  const target = isInto ? join(to.resolved, basename(from.resolved)) : to.resolved
  await renameOrCopy(from.resolved, target, place)
  const paths = { path: from.path, newPath: to.path }
  return { success: true, ...paths, timestamp: timestamp(), exitCode: 0 }
}

async function renameOrCopy(from: string, to: string, place: FailurePlace): Promise<void> {
  try {
    renameSync(from, to)
  } catch (error) {
    if (errnoOf(error) !== 'EXDEV') throw toolFailure(messageOf(error), place)
    await run('mv', ['-T', '--', from, to]).catch((failure: unknown) => {
      throw toolFailure(messageOf(failure), place)
    })
  }
}
