import { accessSync, constants, statSync } from 'node:fs'
import { join } from 'node:path'
import { fixedEntries } from './program-path.ts'

const STANDARD_PATH = '/usr/bin:/bin:/usr/local/bin'

/** Absolute path of a program of the host; undefined when it has none of that name. */
export function findProgram(name: string, path = process.env.PATH ?? ''): string | undefined {
  return fixedEntries(`${path}:${STANDARD_PATH}`)
    .map((directory) => join(directory, name))
    .find(isProgram)
}

/** The same for a program that the containment rests on: the directories of the system first. */
export function findSystemProgram(name: string): string | undefined {
  return findProgram(name, `${STANDARD_PATH}:${process.env.PATH ?? ''}`)
}

/** Whether a path leads to a file that this user may execute. */
export function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}
