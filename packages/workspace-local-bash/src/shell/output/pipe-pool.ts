import { execFile } from 'node:child_process'
import {
  closeSync,
  constants,
  fstatSync,
  mkdirSync,
  openSync,
  renameSync,
  unlinkSync,
} from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { WorkspaceFailedError } from '@helix-agents/core'
import { canPin, READ } from '../../file-system/path/open-flags.ts'
import { unguessableName } from '../../file-system/path/unguessable-name.ts'
import { findSystemProgram } from '../find-program.ts'

const execFileAsync = promisify(execFile)
const FIRST_BATCH = 32
const BATCH = 256

/** Both ends of a pipe. */
export interface Pipe {
  readonly readFd: number
  readonly writeFd: number
  /** Path it had: what `/proc` shows for each process that holds it. */
  readonly path: string
}

/**
 * Makes real pipes for all workspaces of a provider. The ones that Node gives to a child are
 * sockets, which a command cannot open again: `echo text > /dev/stderr` would fail. A file in
 * their place would be cut by it. Only a program can make them, so one makes many.
 */
export class PipePool {
  readonly #free: string[] = []
  #filling: Promise<void> | undefined
  #hasFilled = false

  /**
   * @param scratch Of the workspace that uses the pipe: while it is open, it bears a path in there.
   * @throws {WorkspaceFailedError} `provider-failed` when the host cannot make pipes.
   */
  async take(scratch: string): Promise<Pipe> {
    for (;;) {
      const free = this.#free.pop()
      const pipe = free === undefined ? undefined : openPipe(free, scratch)
      if (pipe !== undefined) return pipe
      // The workspace that it was made in is gone, perhaps with others.
      if (free !== undefined) continue
      const others = this.#filling
      // Theirs may fail with their workspace.
      if (others !== undefined) await Promise.allSettled([others])
      else await (this.#filling = this.#fill(scratch).finally(() => (this.#filling = undefined)))
    }
  }

  async #fill(scratch: string): Promise<void> {
    try {
      const directory = directoryIn(scratch)
      const count = this.#hasFilled ? BATCH : FIRST_BATCH
      const paths = Array.from({ length: count }, () => join(directory, unguessableName()))
      await execFileAsync(findSystemProgram('mkfifo') ?? 'mkfifo', ['-m', '600', ...paths])
      this.#free.push(...paths)
      this.#hasFilled = true
    } catch (cause) {
      throw new WorkspaceFailedError('provider-failed', 'no pipe could be made for a command', {
        cause,
      })
    }
  }
}

/** Closes both ends of an unused pipe. */
export function closePipe({ readFd, writeFd }: Pipe): void {
  closeSync(readFd)
  closeSync(writeFd)
}

function directoryIn(scratch: string): string {
  const directory = join(scratch, 'pipes')
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  return directory
}

/**
 * Opens both ends and takes the name away; undefined when the name has gone, or is of no pipe any
 * more. A command without isolation can put something else there: a link is not followed, and the
 * second end is opened through the first one, so that both are of one pipe and no open waits.
 */
function openPipe(free: string, scratch: string): Pipe | undefined {
  let readFd: number | undefined
  try {
    const path = join(directoryIn(scratch), unguessableName())
    renameSync(free, path)
    readFd = openSync(path, READ)
    if (!fstatSync(readFd).isFIFO()) throw new Error('this is no pipe')
    const writeFd = openSync(canPin ? `/proc/self/fd/${readFd}` : path, constants.O_WRONLY)
    unlinkSync(path)
    return { readFd, writeFd, path }
  } catch {
    if (readFd !== undefined) closeSync(readFd)
    return undefined
  }
}
