import { execFile } from 'node:child_process'
import { closeSync, constants, mkdirSync, openSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { WorkspaceFailedError } from '@helix-agents/core'
import { unguessableName } from '../file-system/unguessable-name.ts'

const execFileAsync = promisify(execFile)
const BATCH = 32

/** Both ends of a pipe. */
export interface Pipe {
  readonly readFd: number
  readonly writeFd: number
  /** Path it had: what `/proc` shows for each process that holds it. */
  readonly path: string
}

/**
 * Makes real pipes. The ones that Node gives to a child are sockets, which a command cannot
 * open again: `echo text > /dev/stderr` would fail. A file in their place would be cut by it.
 */
export class PipePool {
  readonly #directory: string
  #free: string[] = []
  #filling: Promise<void> | undefined

  constructor(scratch: string) {
    this.#directory = join(scratch, 'pipes')
  }

  /** @throws {WorkspaceFailedError} `provider-failed` when the host cannot make pipes. */
  async take(): Promise<Pipe> {
    for (;;) {
      const path = this.#free.pop()
      const pipe = path === undefined ? undefined : openPipe(path)
      if (pipe !== undefined) return pipe
      if (path !== undefined) this.#free = []
      this.#filling ??= this.#fill().finally(() => (this.#filling = undefined))
      await this.#filling
    }
  }

  async #fill(): Promise<void> {
    try {
      mkdirSync(this.#directory, { recursive: true, mode: 0o700 })
      const paths = Array.from({ length: BATCH }, () => join(this.#directory, unguessableName()))
      await execFileAsync('mkfifo', ['-m', '600', ...paths])
      this.#free.push(...paths)
    } catch (cause) {
      throw new WorkspaceFailedError('provider-failed', 'no pipe could be made for a command', {
        cause,
      })
    }
  }
}

/** Opens both ends and takes the name away; undefined when somebody removed it before. */
function openPipe(path: string): Pipe | undefined {
  let readFd: number | undefined
  try {
    readFd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
    const writeFd = openSync(path, constants.O_WRONLY)
    unlinkSync(path)
    return { readFd, writeFd, path }
  } catch {
    if (readFd !== undefined) closeSync(readFd)
    return undefined
  }
}
