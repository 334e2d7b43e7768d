import { chmodSync, mkdtempSync, readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { removeTree } from './root/private-root.ts'

const NAME = /^helix-testbed-(?<pid>\d+)-/

/** Makes the folder of one test bed; its name tells whose it is. */
export function makeTestbedDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), `helix-testbed-${process.pid}-`))
  // Containers run as other users, who must reach their own part.
  chmodSync(directory, 0o711)
  return directory
}

/** Removes the folders of test beds whose process is gone. Never fails. */
export async function reapDeadTestbeds(): Promise<void> {
  const dead = readdirSync(tmpdir()).filter((name) => {
    const pid = NAME.exec(name)?.groups?.pid
    return pid !== undefined && !isAlive(Number(pid))
  })
  await Promise.allSettled(dead.map((name) => removeTree(join(tmpdir(), name))))
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}
