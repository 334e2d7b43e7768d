import { join } from 'node:path'
import {
  sandboxTestbedAvailability,
  type SandboxTestbed,
  type SandboxTestbedOptions,
  startSandboxTestbed,
} from '@helix-agents/sandbox-testbed'
import type { Answer, Asked, OpenArguments, ToldError } from '../worker/protocol.ts'

/** Whether sandboxes can be run here, and otherwise why not. */
export const availability = await sandboxTestbedAvailability()

/** Of a suite: with the reason when it is skipped. */
export const skipNote = availability.available ? '' : ` (skipped: ${availability.reason})`

/** The real SDK in the real workerd, with the provider and the kit in its Worker. */
export class Bench implements AsyncDisposable {
  readonly testbed: SandboxTestbed

  constructor(testbed: SandboxTestbed) {
    this.testbed = testbed
  }

  /**
   * @param compatibilityDate Of the Worker; before 2026-04-21 errors have texts only.
   * @param image Of the containers.
   */
  static async start(
    engine: 'local' | 'docker' = 'local',
    compatibilityDate?: string,
    image: Pick<SandboxTestbedOptions, 'image' | 'interpretersAhead'> = { image: 'python' },
  ): Promise<Bench> {
    const log = process.env.HELIX_BENCH_LOG
    const testbed = await startSandboxTestbed({
      engine,
      ...image,
      worker: {
        entry: join(import.meta.dirname, '../worker/worker.ts'),
        durableObjects: {
          SANDBOX: { className: 'Sandbox', container: true },
          IMPATIENT: { className: 'ImpatientSandbox', container: true },
          BENCH: 'BenchObject',
        },
        r2Buckets: ['BACKUP_BUCKET', 'FILES'],
        ...(compatibilityDate !== undefined && { compatibilityDate }),
      },
      ...(log !== undefined && { onLog: (line) => void process.stderr.write(`${line}\n`) }),
    })
    return new Bench(testbed)
  }

  /** @param bench One object each; what is open in one is not known to another. */
  async ask(bench: string, asked: Asked): Promise<Answer> {
    const response = await this.testbed.fetch(`/${bench}`, {
      method: 'POST',
      body: JSON.stringify(asked),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`the Worker answered ${response.status}: ${text}`)
    return JSON.parse(text) as Answer
  }

  /** Opens a workspace in an object of its own. */
  async open(name: string, settings: Partial<OpenArguments> = {}): Promise<RemoteWorkspace> {
    const remote = new RemoteWorkspace(this, name, settings)
    await remote.open()
    return remote
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.testbed.stop()
  }
}

/** What opens and resolves tell. */
export interface RemoteOpened {
  readonly ref: { readonly ref: { readonly sandbox: string } }
  readonly receipt: { readonly outcome: string; readonly detail?: string }
  readonly id: string
}

/** A workspace that is open in the Worker. */
export class RemoteWorkspace {
  readonly #bench: Bench
  readonly #name: string
  readonly #settings: Partial<OpenArguments>
  opened: RemoteOpened | undefined

  constructor(bench: Bench, name: string, settings: Partial<OpenArguments>) {
    this.#bench = bench
    this.#name = name
    this.#settings = settings
  }

  /** The id of its sandbox. */
  get id(): string {
    return this.opened?.id ?? ''
  }

  async open(): Promise<RemoteOpened> {
    this.opened = await this.#do<RemoteOpened>('open', { ...this.#settings })
    return this.opened
  }

  async resolve(ref: unknown = this.opened?.ref): Promise<RemoteOpened> {
    this.opened = await this.#do<RemoteOpened>('resolve', { ...this.#settings, ref })
    return this.opened
  }

  /** @param method `fs.readFile`, `shell.run`, `close`. @throws {RemoteError} */
  call<T = unknown>(method: string, ...given: readonly unknown[]): Promise<T> {
    return this.#do<T>('call', { method, given })
  }

  /** Output of a command, without the final newline. */
  async output(command: string, options: object = {}): Promise<string> {
    const { stdout } = await this.call<{ stdout: string }>('shell.run', command, options)
    return stdout.replace(/\n$/, '')
  }

  async #do<T>(program: Asked['program'], more: object): Promise<T> {
    const { key = 'box' } = this.#settings
    const given = { sessionId: `session-${this.#name}`, ...more, key }
    const { value, error } = await this.#bench.ask(this.#name, { program, arguments: given })
    if (error !== undefined) throw new RemoteError(error)
    return value as T
  }
}

/** What went wrong in the Worker. */
export class RemoteError extends Error {
  readonly told: ToldError
  readonly code: string | undefined

  constructor(told: ToldError) {
    super([`${told.name} ${told.code}: ${told.message}`, ...told.causes].join('\n  caused by '))
    this.told = told
    this.code = told.code
  }
}

/** The code of the error that a promise rejects with. */
export async function codeOf(promise: Promise<unknown>): Promise<string> {
  return promise.then(
    () => 'no error',
    (error: unknown) =>
      error instanceof RemoteError ? (error.code ?? error.message) : String(error),
  )
}
