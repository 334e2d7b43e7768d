import { accessSync, constants, statSync } from 'node:fs'
import { join } from 'node:path'

const STANDARD_PATH = '/usr/bin:/bin:/usr/local/bin'

/** Absolute path of a program of the host; undefined when it has none of that name. */
export function findProgram(name: string, path = process.env.PATH ?? ''): string | undefined {
  return `${path}:${STANDARD_PATH}`
    .split(':')
    .filter((directory) => directory.startsWith('/'))
    .map((directory) => join(directory, name))
    .find(isProgram)
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}
