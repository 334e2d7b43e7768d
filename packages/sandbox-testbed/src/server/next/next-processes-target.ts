import { RpcTarget } from 'capnweb'
import { ServiceError } from '../service-error.ts'
import { type Argv, ArgvProcess, type StartOptions } from './argv-process.ts'
import { ServiceTarget } from '../service-target.ts'

interface LogsOptions {
  readonly follow?: boolean
}

/** `processes` of the 0.13 line: commands by argument vectors, with handles. */
export class NextProcessesTarget extends ServiceTarget {
  async start(command: Argv, options: StartOptions = {}): Promise<object> {
    const started = await ArgvProcess.start(command, options, this.container.groups)
    this.container.commands.set(started.id, started)
    return started.status()
  }

  get(id: string): object | null {
    return this.container.commands.get(id)?.status() ?? null
  }

  list(): object[] {
    return [...this.container.commands.values()].map((each) => each.status())
  }

  hasActive(): boolean {
    return [...this.container.commands.values()].some(({ isRunning }) => isRunning)
  }

  openLogs(id: string, options: LogsOptions = {}): LogsTarget {
    return new LogsTarget(this.#find(id), options)
  }

  kill(id: string, signal: number): void {
    this.#find(id).kill(signal)
  }

  #find(id: string): ArgvProcess {
    const found = this.container.commands.get(id)
    if (found !== undefined) return found
    throw new ServiceError('PROCESS_NOT_FOUND', `process ${id} not found`, { processId: id })
  }
}

/** One reading of what a process prints. */
class LogsTarget extends RpcTarget {
  readonly #process: ArgvProcess
  readonly #options: LogsOptions

  constructor(process: ArgvProcess, options: LogsOptions) {
    super()
    this.#process = process
    this.#options = options
  }

  stream(): ReadableStream<object> {
    return this.#process.log.stream(this.#options)
  }

  cancel(): void {}
}
