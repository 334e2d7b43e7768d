import { EventEmitter } from 'node:events'
import { ForksPoolWorker, type PoolOptions, type PoolWorker, type TestProject } from 'vitest/node'
import { childrenOf } from './processes.ts'

/**
 * Keeps the processes of tests from run to run: Vitest would end each with its run. What they have
 * loaded stays loaded.
 */
export class KeptWorkers {
  /** Whether the next run shares processes; one that does not has its own, and the others stay. */
  isKeeping = true
  readonly #kept = new Map<TestProject, KeptWorker>()

  /** Replaces the pool of a project. One that isolates its files has new processes all the same. */
  keep(project: TestProject): void {
    const { config } = project
    if (config.isolate) return
    const inner = config.poolRunner
    const name = `kept-${inner?.name ?? 'forks'}`
    const create = (options: PoolOptions): PoolWorker =>
      inner?.createPoolWorker(options) ?? new ForksPoolWorker(options)
    config.pool = name
    config.poolRunner = {
      name,
      createPoolWorker: (options) => {
        if (!this.isKeeping) return create(options)
        const kept = this.#kept.get(project)
        if (kept?.isAlive === true) return kept.next()
        const worker = new KeptWorker(name, create(options))
        this.#kept.set(project, worker)
        return worker
      },
    }
  }

  /** Ends the processes that runs share: the next one starts new ones. */
  async stop(): Promise<void> {
    const workers = [...this.#kept.values()]
    this.#kept.clear()
    await Promise.all(workers.map((worker) => worker.end()))
  }
}

/** Kills the processes of tests, but for such that have started others: these would stay. */
export function killWorkers(): void {
  const workers = childrenOf(process.pid)
  if (workers.some((worker) => childrenOf(worker).length > 0)) return
  for (const worker of workers) process.kill(worker, 'SIGKILL')
}

/** A worker that outlives the runs that start and stop it. */
class KeptWorker implements PoolWorker {
  readonly name: string
  readonly reportMemory?: boolean
  readonly cacheFs?: boolean
  readonly #inner: PoolWorker
  readonly #events = new EventEmitter()
  #state: 'new' | 'alive' | 'dead' = 'new'
  #hasStarted = false

  constructor(name: string, inner: PoolWorker) {
    this.name = name
    this.#inner = inner
    if (inner.reportMemory !== undefined) this.reportMemory = inner.reportMemory
    if (inner.cacheFs !== undefined) this.cacheFs = inner.cacheFs
  }

  get isAlive(): boolean {
    return this.#state === 'alive'
  }

  /** For the next run: those who listened in the last one hear nothing any more. */
  next(): this {
    this.#events.removeAllListeners()
    return this
  }

  on(event: string, callback: (...args: unknown[]) => void): void {
    this.#events.on(event, callback)
  }

  off(event: string, callback: (...args: unknown[]) => void): void {
    this.#events.off(event, callback)
  }

  send(message: Parameters<PoolWorker['send']>[0]): void {
    if (message.type === 'stop') this.#answer('stopped')
    else if (message.type === 'start' && this.#hasStarted) this.#answer('started')
    else this.#inner.send(message)
    if (message.type === 'start') this.#hasStarted = true
  }

  deserialize(data: unknown): unknown {
    return isAnswer(data) ? data : this.#inner.deserialize(data)
  }

  async start(): Promise<void> {
    if (this.#state !== 'new') return
    await this.#inner.start()
    this.#state = 'alive'
    this.#inner.on('message', (message) => this.#events.emit('message', message))
    this.#inner.on('error', (error) => this.#emitError(error))
    this.#inner.on('exit', (...how) => {
      this.#state = 'dead'
      this.#events.emit('exit', ...how)
    })
  }

  /** Vitest asks for it after each run. */
  stop(): Promise<void> {
    return Promise.resolve()
  }

  async end(): Promise<void> {
    const { isAlive } = this
    this.#events.removeAllListeners()
    this.#state = 'dead'
    if (isAlive) await this.#inner.stop()
  }

  #emitError(error: unknown): void {
    if (this.#events.listenerCount('error') > 0) this.#events.emit('error', error)
  }

  #answer(type: 'started' | 'stopped'): void {
    setImmediate(() => this.#events.emit('message', { [ANSWER]: true, type }))
  }
}

const ANSWER = '__vitest_worker_response__'

function isAnswer(data: unknown): boolean {
  return typeof data === 'object' && data !== null && Reflect.get(data, ANSWER) === true
}
