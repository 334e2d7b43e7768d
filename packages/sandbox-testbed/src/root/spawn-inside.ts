import { type ChildProcess, spawn } from 'node:child_process'
import type { Readable } from 'node:stream'
import { Writable } from 'node:stream'
import type { HostCommand } from './mount-plan.ts'

/** A started program: no input, output to read. */
export interface InsideProcess {
  readonly child: ChildProcess
  readonly stdout: Readable
  readonly stderr: Readable
}

/** Starts a command that enters a private root. */
export function spawnInside(
  { file, args, options }: HostCommand,
  env: Readonly<Record<string, string>>,
): InsideProcess {
  const child = spawn(file, args, {
    env,
    cwd: '/',
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    // A process group of its own: what is still on its way into the root can be killed with it.
    detached: true,
  })
  const { stdout, stderr } = child
  if (stdout === null || stderr === null) throw new TypeError('a started process has no output')
  // Options go through a channel: a command line can be read by everything that runs inside.
  const channel = child.stdio[3]
  if (channel instanceof Writable) {
    channel.on('error', () => killInside(child))
    channel.end(options ?? '')
  }
  return { child, stdout, stderr }
}

/** Kills a command and everything that it started. */
export function killInside({ pid }: ChildProcess): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, 'SIGKILL')
  } catch (error) {
    const isGone = error instanceof Error && 'code' in error && error.code === 'ESRCH'
    if (!isGone) throw error
  }
}
