import { accessSync, constants, statSync } from 'node:fs'
import { dirname, join } from 'node:path'

const SYSTEM_PATH = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin']

/** The absolute path of a program of the host, looked up in PATH and in the system directories. */
export function findProgram(name: string): string | undefined {
  const folders = [...(process.env.PATH ?? '').split(':'), ...SYSTEM_PATH]
  return folders
    .filter((folder) => folder.startsWith('/'))
    .map((folder) => join(folder, name))
    .find(isExecutable)
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}

/** Whether a user without rights can reach and read a path: all its directories are open. */
export function isOpenToAll(path: string): boolean {
  return (statSync(path).mode & 0o005) === 0o005 && isReachableByAll(dirname(path))
}

/** Whether a user without rights can reach what is in a directory. */
export function isReachableByAll(directory: string): boolean {
  for (let folder = directory; folder !== '/'; folder = dirname(folder)) {
    if ((statSync(folder).mode & 0o001) === 0) return false
  }
  return true
}
