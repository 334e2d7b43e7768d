import type { PrivateRoot } from '../../root/mount-plan.ts'
import { type ContainerHost, ContainerRun } from './container-run.ts'
import { OutputTail } from './output-tail.ts'

export type ContainerState = 'created' | 'running' | 'exited'

/** What the create call says about a container. */
export interface NewContainer {
  readonly name: string
  readonly id: string
  readonly root: PrivateRoot
  /** `NAME=value` lines. */
  readonly env: readonly string[]
}

/** One container: created, and then started as often as it ended. */
export class Container {
  readonly name: string
  readonly id: string
  readonly output = new OutputTail()
  readonly #host: ContainerHost
  readonly #env: readonly string[]
  readonly #removed = Promise.withResolvers<void>()
  #root: PrivateRoot
  #run: ContainerRun | undefined
  #exited = Promise.withResolvers<number>()

  constructor(host: ContainerHost, created: NewContainer) {
    this.#host = host
    this.name = created.name
    this.id = created.id
    this.#root = created.root
    this.#env = created.env
  }

  get state(): ContainerState {
    if (this.#run === undefined) return 'created'
    return this.#run.exitCode === undefined ? 'running' : 'exited'
  }

  /** The disk. */
  get root(): PrivateRoot {
    return this.#root
  }

  /** Of the last run; 0 while there is none. */
  get exitCode(): number {
    return this.#run?.exitCode ?? 0
  }

  /** Resolves with the exit code of the run that is on, or of the one to come. */
  get exited(): Promise<number> {
    return this.#exited.promise
  }

  /** Resolves when the container and its disk are gone. */
  get removed(): Promise<void> {
    return this.#removed.promise
  }

  /** What the platform says when it has no instance for this container. */
  get refusal(): string | undefined {
    return this.#run?.refusal
  }

  /** Process id on the host of the outermost process. */
  get pid(): number | undefined {
    return this.state === 'running' ? this.#run?.pid : undefined
  }

  /** The socket of its server on the host; undefined while it does not listen. */
  serverSocket(): string | undefined {
    return this.state === 'running' ? this.#run?.serverSocket() : undefined
  }

  /** Begins a run. @param root an empty disk; default: that of the creation. */
  start(root: PrivateRoot = this.#root): void {
    const parts = { name: this.name, env: this.#env, output: this.output }
    // Those who wait for the end of the run before have got it.
    if (this.#run !== undefined) this.#exited = Promise.withResolvers()
    this.#root = root
    this.#run = new ContainerRun(this.#host, { ...parts, root })
    void this.#run.exited.then(this.#exited.resolve)
  }

  /** Sends a signal to the server, or ends everything at once with SIGKILL. */
  signal(signal: NodeJS.Signals): void {
    this.#run?.signal(signal)
  }

  /** Kills every process of the container and reports an exit code. */
  end(exitCode: number): void {
    this.#run?.end(exitCode)
  }

  /** Says that the disk is gone. */
  markRemoved(): void {
    this.#exited.resolve(this.exitCode)
    this.#removed.resolve()
  }
}
