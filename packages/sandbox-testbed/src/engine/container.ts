import type { ChildProcess } from 'node:child_process'
import { readFileSync, renameSync } from 'node:fs'
import { constants } from 'node:os'
import { join } from 'node:path'
import type { FaultSet } from '../faults/fault-set.ts'
import { NODE_PATH, SERVER_PATH, SOCKET_PATH } from '../root/image.ts'
import { type Isolation, type PrivateRoot, socketOf } from '../root/mount-plan.ts'
import { killInside, spawnInside } from '../root/spawn-inside.ts'
import { OutputTail } from './output-tail.ts'

const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'
/** The words of the platform; the SDK recognises them. */
const CAPACITY_MESSAGES = {
  'no-instance':
    'there is no container instance that can be provided to this durable object, try again later',
  'max-instances': 'Maximum number of running container instances exceeded',
}
const SLEEP_FOR_EVER = ['/bin/sleep', 'infinity']

/** What a container needs of the test bed. */
export interface ContainerHost {
  readonly isolation: Isolation
  readonly faults: FaultSet
  readonly serverVersion: string
}

export type ContainerState = 'created' | 'running' | 'exited'

/** One container: a server process in a root of its own. */
export class Container {
  readonly name: string
  readonly id: string
  readonly root: PrivateRoot
  readonly output = new OutputTail()
  state: ContainerState = 'created'
  exitCode = 0
  /** What the platform says when it has no instance for this container. */
  refusal: string | undefined
  readonly #host: ContainerHost
  readonly #env: readonly string[]
  readonly #removed = Promise.withResolvers<void>()
  readonly #exited = Promise.withResolvers<number>()
  readonly #timers = new Set<NodeJS.Timeout>()
  #process: ChildProcess | undefined
  #socket: string | undefined

  constructor(host: ContainerHost, created: NewContainer) {
    this.#host = host
    this.name = created.name
    this.id = created.id
    this.root = created.root
    this.#env = created.env
  }

  /** Resolves with the exit code. */
  get exited(): Promise<number> {
    return this.#exited.promise
  }

  /** Resolves when the container and its disk are gone. */
  get removed(): Promise<void> {
    return this.#removed.promise
  }

  /** Says that the disk is gone. */
  markRemoved(): void {
    this.#finish(this.exitCode)
    this.#removed.resolve()
  }

  /** Process id on the host of the outermost process. */
  get pid(): number | undefined {
    return this.#process?.pid
  }

  /**
   * The socket of the server, on the host; undefined while nobody listens. It is moved out of the
   * root at the first look: nothing inside can remove it then, and no other container sees it.
   */
  serverSocket(): string | undefined {
    this.#socket ??= takeSocket(this.root)
    return this.#socket
  }

  start(): void {
    this.state = 'running'
    const { faults } = this.#host
    const full = faults.take('capacity', this.name)
    if (full !== undefined) {
      this.refusal = CAPACITY_MESSAGES[full.reason]
      return
    }
    const slow = faults.take('slow-start', this.name)
    const ends = faults.take('exits', this.name)
    const mute = faults.take('never-listens', this.name) !== undefined
    if (slow === undefined) this.#launch(mute)
    else this.#later(slow.delayMs, () => this.#launch(mute))
    if (ends !== undefined) this.#later(ends.afterMs, () => this.end(ends.exitCode))
  }

  /** Sends a signal to the server, or ends everything at once with SIGKILL. */
  signal(signal: NodeJS.Signals): void {
    const server = this.#serverPid()
    if (signal === 'SIGKILL' || server === undefined) {
      this.end(128 + (constants.signals[signal] ?? constants.signals.SIGKILL))
      return
    }
    process.kill(server, signal)
  }

  /** Kills every process of the container and reports an exit code. */
  end(exitCode: number): void {
    if (this.state !== 'running') return
    if (this.#process === undefined) return this.#finish(exitCode)
    this.exitCode = exitCode
    killInside(this.#process)
  }

  #launch(mute: boolean): void {
    const argv = mute ? SLEEP_FOR_EVER : [NODE_PATH, SERVER_PATH]
    const command = this.#host.isolation.command(this.root, argv)
    const { child, stdout, stderr } = spawnInside(command, this.#environment())
    this.#process = child
    stdout.on('data', (chunk: Buffer) => this.output.add(chunk))
    stderr.on('data', (chunk: Buffer) => this.output.add(chunk))
    child.on('error', (error) => {
      this.output.add(Buffer.from(String(error)))
      this.#finish(127)
    })
    child.on('exit', (code, signal) => {
      this.#finish(this.exitCode || (code ?? 128 + (signal ? constants.signals[signal] : 0)))
    })
  }

  #environment(): Record<string, string> {
    const pairs = this.#env.map((line): [string, string] => {
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
    }
  }

  /** The first child of the first process inside; undefined while that starts. */
  #serverPid(): number | undefined {
    const first = firstChild(this.pid)
    return firstChild(first)
  }

  #later(delayMs: number, action: () => void): void {
    this.#timers.add(setTimeout(() => this.state === 'running' && action(), delayMs))
  }

  #finish(exitCode: number): void {
    if (this.state === 'exited') return
    for (const timer of this.#timers) clearTimeout(timer)
    this.state = 'exited'
    this.exitCode = exitCode
    this.#exited.resolve(exitCode)
  }
}

/** What the create call says about a container. */
export interface NewContainer {
  readonly name: string
  readonly id: string
  readonly root: PrivateRoot
  /** `NAME=value` lines. */
  readonly env: readonly string[]
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
