import type { Clock } from '@helix-agents/core'
import { quoteWord, untilAborted } from '@helix-agents/core/provider'
import { DriverError } from '../driver-error.ts'
import type { ScriptCall, ScriptOutput, ScriptRunner } from '../remote/script-runner.ts'
import { bytesStream } from '../remote/streams.ts'
import { classifyError } from '../sdk-0-12/classify-error.ts'

const KILL = 9

/** What the driver needs of `ctx.container`. */
export type ContainerHandle = Pick<Container, 'running' | 'start' | 'exec' | 'destroy'>

export interface ContainerRunnerOptions {
  readonly container: ContainerHandle
  readonly clock: Clock
  /** Starts the container when it does not run. */
  readonly start: () => void
}

/** Scripts and files by `ctx.container.exec`: bytes in and out, a handle on each process. */
export class ContainerRunner implements ScriptRunner {
  readonly #options: ContainerRunnerOptions

  constructor(options: ContainerRunnerOptions) {
    this.#options = options
  }

  async run(script: string, call: ScriptCall): Promise<ScriptOutput> {
    return this.#watched(await this.#launch(['bash', '-c', script]), call, async (launched) => {
      const { stdout, stderr, exitCode } = await launched.output()
      const [out, err] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes))
      return { stdout: out ?? '', stderr: err ?? '', exitCode }
    })
  }

  async store(
    path: string,
    data: Uint8Array | ReadableStream<Uint8Array>,
    call: ScriptCall,
  ): Promise<void> {
    const quoted = quoteWord(path)
    const script = `mkdir -p -- "$(dirname -- ${quoted})" && cat >${quoted}`
    const stdin = data instanceof Uint8Array ? bytesStream(data) : data
    const launched = await this.#launch(['bash', '-c', script], stdin)
    const exitCode = await this.#watched(launched, call, (it) => it.exitCode)
    if (exitCode === 0) return
    throw new DriverError('failed', 'the container could not write the file', { admitted: 'yes' })
  }

  async fetch(path: string): Promise<ReadableStream<Uint8Array>> {
    const { stdout } = await this.#launch(['cat', '--', path])
    if (stdout !== null) return stdout
    throw new DriverError('failed', 'the container could not read the file', { admitted: 'yes' })
  }

  /** Rejects without anything having run, as the process is there once this resolves. */
  async #launch(argv: string[], stdin?: ReadableStream<Uint8Array>): Promise<ExecProcess> {
    const { container, start } = this.#options
    try {
      if (!container.running) start()
      return await container.exec(argv, {
        cwd: '/',
        stdout: 'pipe',
        stderr: 'pipe',
        ...(stdin !== undefined && { stdin }),
      })
    } catch (thrown) {
      const { error } = classifyError(thrown)
      if (error.code !== 'failed') throw error
      const detail = 'the container takes no commands'
      throw new DriverError('unavailable', detail, { admitted: 'no', cause: thrown })
    }
  }

  /** A process that runs into the deadline is killed: there is a handle on it. */
  async #watched<T>(
    launched: ExecProcess,
    { deadlineMs, signal }: ScriptCall,
    work: (launched: ExecProcess) => Promise<T>,
  ): Promise<T> {
    const late = Promise.withResolvers<never>()
    const cancel = this.#options.clock.setTimer(deadlineMs, () => {
      launched.kill(KILL)
      late.reject(lost('the container did not answer in time'))
    })
    try {
      return await untilAborted(Promise.race([work(launched), late.promise]), signal)
    } catch (thrown) {
      if (thrown instanceof DriverError || signal?.aborted) throw thrown
      throw lost('the container went away during the operation', thrown)
    } finally {
      cancel()
    }
  }
}

function lost(detail: string, cause?: unknown): DriverError {
  return new DriverError('interrupted', detail, { admitted: 'unknown', cause })
}
