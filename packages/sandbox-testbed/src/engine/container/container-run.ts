import type { ChildProcess } from 'node:child_process'
import { readFileSync, renameSync } from 'node:fs'
import { constants } from 'node:os'
import { join } from 'node:path'
import type { FaultSet } from '../../faults/fault-set.ts'
import { type ContainerImage, NODE_PATH, SERVER_PATH, SOCKET_PATH } from '../../root/image.ts'
import { type Isolation, type PrivateRoot, socketOf } from '../../root/mount-plan.ts'
import { killInside, spawnInside } from '../../root/spawn-inside.ts'
import type { OutputTail } from './output-tail.ts'

const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'
/** The words of the platform; the SDK recognises them. */
const CAPACITY_MESSAGES = {
  'no-instance':
    'there is no container instance that can be provided to this durable object, try again later',
  'max-instances': 'Maximum number of running container instances exceeded',
}
const SLEEP_FOR_EVER = ['/bin/sleep', 'infinity']
/** As a shell reports that a program could not be started. */
const NOT_STARTED = 127

/** What a container needs of the test bed. */
export interface ContainerHost {
  readonly isolation: Isolation
  readonly faults: FaultSet
  readonly serverVersion: string
  readonly imageName: ContainerImage
  readonly interpretersAhead: number
  readonly line?: '0.12' | '0.13'
  readonly costs?: 'none' | 'recorded'
}

/** What one run of a container is made of. */
export interface RunParts {
  readonly name: string
  readonly root: PrivateRoot
  /** `NAME=value` lines. */
  readonly env: readonly string[]
  readonly output: OutputTail
}

/** A container from one start to its end: a server process in a root of its own. */
export class ContainerRun {
  /** What the platform says when it has no instance for this container. */
  readonly refusal: string | undefined
  readonly #host: ContainerHost
  readonly #parts: RunParts
  readonly #exited = Promise.withResolvers<number>()
  readonly #timers = new Set<NodeJS.Timeout>()
  #process: ChildProcess | undefined
  #socket: string | undefined
  #exitCode: number | undefined
  /** Reported when it was killed from here. */
  #killCode: number | undefined

  constructor(host: ContainerHost, parts: RunParts) {
    this.#host = host
    this.#parts = parts
    const { faults } = host
    const full = faults.take('capacity', parts.name)
    this.refusal = full === undefined ? undefined : CAPACITY_MESSAGES[full.reason]
    if (full !== undefined) return
    const slow = faults.take('slow-start', parts.name)
    const ends = faults.arm('exits', parts.name)
    const mute = faults.take('never-listens', parts.name) !== undefined
    if (slow === undefined) this.#launch(mute)
    else this.#later(slow.delayMs, () => this.#launch(mute))
    if (ends === undefined) return
    const { afterMs, exitCode } = ends.fault
    this.#later(afterMs, () => {
      if (ends.strike()) this.end(exitCode)
    })
  }

  /** Undefined while it runs. */
  get exitCode(): number | undefined {
    return this.#exitCode
  }

  /** Resolves with the exit code. */
  get exited(): Promise<number> {
    return this.#exited.promise
  }

  /** Process id on the host of the outermost process. */
  get pid(): number | undefined {
    return this.#process?.pid
  }

  /**
   * The socket of the server, on the host; undefined while it does not listen. It is moved out of the
   * root at the first use: nothing inside can remove it then, and no other container sees it.
   */
  serverSocket(): string | undefined {
    this.#socket ??= takeSocket(this.#parts.root)
    return this.#socket
  }

  /** Sends a signal to the server; SIGKILL, or any before it listens, ends everything at once. */
  signal(signal: NodeJS.Signals): void {
    const isUp = signal !== 'SIGKILL' && this.serverSocket() !== undefined
    const server = isUp ? firstChild(firstChild(this.pid)) : undefined
    if (server === undefined) this.end(128 + constants.signals[signal])
    else send(server, signal)
  }

  /** Kills every process of the container; the first exit code that is given is reported. */
  end(exitCode: number): void {
    if (this.#exitCode !== undefined) return
    this.#killCode ??= exitCode
    if (this.#process === undefined) this.#finish(this.#killCode)
    else killInside(this.#process)
  }

  #launch(mute: boolean): void {
    const { root, output } = this.#parts
    const argv = mute ? SLEEP_FOR_EVER : [NODE_PATH, SERVER_PATH]
    try {
      const command = this.#host.isolation.command(root, argv)
      const { child, stdout, stderr } = spawnInside(command, this.#environment())
      this.#process = child
      stdout.on('data', (chunk: Buffer) => output.add(chunk))
      stderr.on('data', (chunk: Buffer) => output.add(chunk))
      child.on('error', (error) => this.#failToStart(error))
      child.on('exit', (code, signal) => {
        const killed = this.#killCode ?? 128 + (signal === null ? 0 : constants.signals[signal])
        this.#finish(code ?? killed)
      })
    } catch (error) {
      this.#failToStart(error)
    }
  }

  #failToStart(error: unknown): void {
    this.#parts.output.add(Buffer.from(`${String(error)}\n`))
    this.#finish(NOT_STARTED)
  }

  #environment(): Record<string, string> {
    const pairs = this.#parts.env.map((line): [string, string] => {
      const [name = '', ...value] = line.split('=')
      return [name, value.join('=')]
    })
    return {
      PATH,
      HOME: '/root',
      HOSTNAME: 'sandbox',
      ...Object.fromEntries(pairs),
      HELIX_TESTBED_SOCKET: SOCKET_PATH,
      HELIX_TESTBED_SERVER_VERSION: this.#host.serverVersion,
      HELIX_TESTBED_IMAGE: this.#host.imageName,
      HELIX_TESTBED_AHEAD: String(this.#host.interpretersAhead),
      HELIX_TESTBED_LINE: this.#host.line ?? '0.12',
      HELIX_TESTBED_COSTS: this.#host.costs ?? 'none',
    }
  }

  #later(delayMs: number, action: () => void): void {
    this.#timers.add(setTimeout(action, delayMs))
  }

  #finish(exitCode: number): void {
    if (this.#exitCode !== undefined) return
    for (const timer of this.#timers) clearTimeout(timer)
    this.#exitCode = exitCode
    this.#exited.resolve(exitCode)
  }
}

function takeSocket({ directory }: PrivateRoot): string | undefined {
  try {
    const socketPath = socketOf(directory)
    renameSync(join(directory, SOCKET_PATH), socketPath)
    return socketPath
  } catch {
    // Not there yet.
    return undefined
  }
}

function firstChild(pid: number | undefined): number | undefined {
  if (pid === undefined) return undefined
  try {
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim()
    return children === '' ? undefined : Number(children.split(' ')[0])
  } catch {
    return undefined
  }
}

/** One that ends at this moment needs no signal any more. */
function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch (error) {
    const isGone = error instanceof Error && 'code' in error && error.code === 'ESRCH'
    if (!isGone) throw error
  }
}
