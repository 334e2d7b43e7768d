import { spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'

/**
 * Waits for the end of its input, which is the end of this process however it comes, and then ends
 * what would stay. Containers die by themselves; workerd and files do not.
 */
const GUARD = `read -r _
directory=$1; shift
for pid in "$@"; do grep -q workerd "/proc/$pid/cmdline" && kill -9 "$pid"; done
rm -rf -- "$directory"`

/**
 * Starts a process that cleans up when this one is killed.
 *
 * @param directory folder of the test bed.
 * @returns what ends the guard without a clean-up.
 */
export function startHostGuard(directory: string): () => void {
  const pids = workerdChildren()
  const guard = spawn('/bin/sh', ['-c', GUARD, 'guard', directory, ...pids], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  })
  guard.on('error', () => undefined)
  guard.unref()
  if ('unref' in guard.stdin && typeof guard.stdin.unref === 'function') guard.stdin.unref()
  return () => guard.kill('SIGKILL')
}

/** The workerd processes that this process started. */
function workerdChildren(): string[] {
  return readdirSync('/proc').filter((name) => {
    if (!/^\d+$/.test(name)) return false
    try {
      const status = readFileSync(`/proc/${name}/status`, 'utf8')
      const isChild = status.includes(`\nPPid:\t${process.pid}\n`)
      return isChild && status.startsWith('Name:\tworkerd')
    } catch {
      return false
    }
  })
}
