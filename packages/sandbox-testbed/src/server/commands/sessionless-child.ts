import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { constants } from 'node:os'
import type { Readable } from 'node:stream'
import { type ChildGroups, killGroup } from '../child-groups.ts'
import { type Variables, WORKSPACE, withVariables } from '../environment.ts'
import { errnoOf, messageOf } from '../service-error.ts'
import { spawnProblem } from '../spawn-problem.ts'

/** What a command may bring along. */
export interface CommandOptions {
  readonly timeoutMs?: number
  readonly env?: Variables
  readonly cwd?: string
  readonly origin?: 'user' | 'internal'
}

/** How a command without a session ended. */
export interface SessionlessEnd {
  readonly exitCode: number
  /** What is added to stderr when its time ran out. */
  readonly notice: string
}

/** A running command without a session. */
export interface SessionlessChild {
  readonly pid: number
  readonly stdout: Readable
  readonly stderr: Readable
  /** Resolves when the shell ended and no process holds its output any more. */
  readonly ended: Promise<SessionlessEnd>
}

/** The exit code of a command whose time ran out. */
const TIMED_OUT = 124

type Child = ChildProcessByStdio<null, Readable, Readable>

/**
 * Spawns a shell for one command.
 * @throws {Error} With the text of the failed spawn, such as a missing directory.
 */
export async function startSessionless(
  command: string,
  options: CommandOptions,
  groups: ChildGroups,
): Promise<SessionlessChild> {
  const child = spawnShell(command, options)
  const { pid, stdout, stderr } = child
  if (pid === undefined) throw new Error(await spawnFailure(child))
  groups.add(pid)
  return { pid, stdout, stderr, ended: untilEnd(child, options.timeoutMs, groups) }
}

function spawnShell(command: string, options: CommandOptions): Child {
  try {
    return spawn('/bin/bash', ['-c', command], {
      cwd: options.cwd ?? WORKSPACE,
      env: withVariables(options.env),
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
  } catch (error) {
    // Some errors are thrown at once, others come as an event.
    throw new Error(problemOf(error), { cause: error })
  }
}

async function spawnFailure(child: Child): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<unknown>()
  child.once('error', resolve)
  return problemOf(await promise)
}

function problemOf(error: unknown): string {
  const errno = errnoOf(error)
  return errno === undefined || errno.startsWith('ERR_') ? messageOf(error) : spawnProblem(errno)
}

function untilEnd(
  child: Child,
  timeoutMs: number | undefined,
  groups: ChildGroups,
): Promise<SessionlessEnd> {
  const { promise, resolve } = Promise.withResolvers<SessionlessEnd>()
  let timedOut = false
  const stop = (): void => {
    timedOut = true
    if (child.pid !== undefined) killGroup(child.pid)
  }
  const timer = timeoutMs === undefined ? undefined : setTimeout(stop, timeoutMs)
  // The time counts for the shell only: a child left behind keeps the call waiting past it.
  child.once('exit', () => clearTimeout(timer))
  child.once('close', (code, signal) => {
    groups.forget(child.pid)
    if (!timedOut) return resolve({ exitCode: exitCodeOf(code, signal), notice: '' })
    resolve({ exitCode: TIMED_OUT, notice: `Command timed out after ${timeoutMs}ms\n` })
  })
  return promise
}

function exitCodeOf(code: number | null, signal: NodeJS.Signals | null): number {
  if (code !== null) return code
  return signal === null ? 1 : 128 + constants.signals[signal]
}
