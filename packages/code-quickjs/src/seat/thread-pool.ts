import { Worker } from 'node:worker_threads'
import type { SessionLimits } from '../protocol.ts'
import type { FromThread, ThreadData } from './thread-messages.ts'

/** Threads that wait for their next session. */
const MAX_IDLE = 2
const STACK_MB = 16
/** Of the thread itself; the memory of code is bounded by its interpreter. */
const HEAP_MB = 256

/** A thread that runs one session at a time. */
export interface PooledThread {
  readonly worker: Worker
  readonly abort: Int32Array
  /** Its next session is made, or it has ended. */
  ready: Promise<void>
}

/** Threads of one engine. A waiting one keeps no process alive. */
export class ThreadPool {
  readonly #wasm: () => Promise<WebAssembly.Module>
  readonly #limits: SessionLimits
  readonly #idle: PooledThread[] = []

  constructor(wasm: () => Promise<WebAssembly.Module>, limits: SessionLimits) {
    this.#wasm = wasm
    this.#limits = limits
  }

  async take(): Promise<PooledThread> {
    // The one that waits longest has made its next session.
    const thread = this.#idle.shift() ?? this.#start(await this.#wasm())
    thread.worker.ref()
    return thread
  }

  /** Takes back a thread whose session is over. */
  release(thread: PooledThread): void {
    thread.worker.unref()
    if (this.#idle.length >= MAX_IDLE) return this.discard(thread)
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
    thread.worker.postMessage({ type: 'reset' })
    thread.ready = readyOf(thread.worker)
    Atomics.store(thread.abort, 0, 0)
    this.#idle.push(thread)
  }

  /** Ends a thread, but not while it loads: to end one then can crash Node. */
  discard({ worker, ready }: PooledThread): void {
    void ready.then(() => worker.terminate())
  }

  #start(wasm: WebAssembly.Module): PooledThread {
    const abort = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)
    const data: ThreadData = { wasm, abort, limits: this.#limits }
    const worker = new Worker(threadUrl(), {
      workerData: data,
      // No flag, variable or output of the process is that of a thread.
      execArgv: ['--no-warnings'],
      argv: [],
      env: {},
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MB, stackSizeMb: STACK_MB },
    })
    const thread = { worker, abort: new Int32Array(abort), ready: readyOf(worker) }
    worker.on('exit', () => {
      const index = this.#idle.indexOf(thread)
      if (index >= 0) this.#idle.splice(index, 1)
    })
    // Its user gets the error; a waiting one is gone with its exit.
    worker.on('error', () => undefined)
    return thread
  }
}

function readyOf(worker: Worker): Promise<void> {
  return new Promise((resolve) => {
    const onMessage = ({ type }: FromThread): void => {
      if (type === 'ready') onReady()
    }
    const onReady = (): void => {
      worker.off('message', onMessage).off('exit', onReady)
      resolve()
    }
    worker.on('message', onMessage).on('exit', onReady)
  })
}

function threadUrl(): URL {
  const isSource = import.meta.url.endsWith('.ts')
  return new URL(isSource ? '../thread.ts' : './thread.js', import.meta.url)
}
