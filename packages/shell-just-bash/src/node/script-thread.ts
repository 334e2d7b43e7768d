import * as nodeModule from 'node:module'
import { dirname } from 'node:path'
import { Worker } from 'node:worker_threads'
import type { Script, ScriptEnd, ScriptHost } from '../script/script.ts'
import { type CallError, FILE_METHODS, type FromThread, type ToThread } from './protocol.ts'

/** How long an aborted script may still take to return; then its thread is ended. */
const GRACE_MS = 50
const KILLED = 137
const FAILED = 1
const MAX_HEAP_MB = 256
const MAX_YOUNG_MB = 32
const STACK_MB = 4

/** Deno has none. */
const { getCompileCacheDir }: Partial<typeof nodeModule> = nodeModule

const isSource = import.meta.url.endsWith('.ts')

/** A thread for the scripts of one workspace. */
export class ScriptThread {
  readonly #worker: Worker
  /** It has loaded what it needs, or has ended. */
  readonly #started: Promise<void>
  #isAlive = true

  constructor() {
    const file = new URL(isSource ? './thread.ts' : './thread.js', import.meta.url)
    this.#worker = new Worker(file, {
      name: 'helix-shell',
      env: environment(),
      argv: [],
      execArgv: [],
      stdin: false,
      stdout: true,
      stderr: true,
      resourceLimits: {
        maxOldGenerationSizeMb: MAX_HEAP_MB,
        maxYoungGenerationSizeMb: MAX_YOUNG_MB,
        stackSizeMb: STACK_MB,
      },
    })
    // A thread whose script used up its memory ends with an error.
    this.#worker.on('error', () => (this.#isAlive = false))
    this.#worker.on('exit', () => (this.#isAlive = false))
    this.#started = new Promise((resolve) => {
      // Its first message says that it is ready.
      this.#worker.once('message', () => resolve()).once('exit', () => resolve())
    })
    this.#worker.unref()
  }

  /** It can run another script. */
  get isAlive(): boolean {
    return this.#isAlive
  }

  async run(script: Script, host: ScriptHost, signal: AbortSignal): Promise<ScriptEnd> {
    const ended = Promise.withResolvers<ScriptEnd>()
    const onMessage = (message: FromThread): void => {
      if (message.type === 'end') ended.resolve(message.end)
      else if (message.type === 'failed') {
        void complain(host, message.message, FAILED).then(ended.resolve)
      } else if (message.type === 'call') void this.#answer(message, host)
    }
    const onDeath = (): void => {
      const reason = signal.aborted ? '' : 'killed: out of memory'
      void complain(host, reason).then(ended.resolve)
    }
    const onAbort = (): void => {
      this.#send({ type: 'abort' })
      setTimeout(() => void this.end(), GRACE_MS)
    }
    const worker = this.#worker
    worker.ref()
    await this.#started
    if (signal.aborted) {
      worker.unref()
      return { exitCode: KILLED }
    }
    worker.on('message', onMessage).once('exit', onDeath)
    signal.addEventListener('abort', onAbort, { once: true })
    try {
      if (!this.#isAlive) onDeath()
      this.#send({ type: 'run', script })
      return await ended.promise
    } finally {
      signal.removeEventListener('abort', onAbort)
      worker.off('message', onMessage).off('exit', onDeath)
      worker.unref()
    }
  }

  /** Ends whatever runs. A thread that starts is ready first: to end it while it loads can crash Node. */
  async end(): Promise<void> {
    this.#isAlive = false
    await this.#started
    await this.#worker.terminate()
  }

  async #answer(
    message: Extract<FromThread, { readonly type: 'call' }>,
    host: ScriptHost,
  ): Promise<void> {
    const { id } = message
    try {
      const value = await perform(message, host)
      this.#send({ type: 'reply', id, value }, transferable(value))
    } catch (error) {
      this.#send({ type: 'error', id, error: describe(error) })
    }
  }

  #send(message: ToThread, transfer: readonly ArrayBuffer[] = []): void {
    if (this.#isAlive) this.#worker.postMessage(message, transfer)
  }
}

/**
 * Nothing of this process, but where it keeps compiled code, if it does: below its folder of that
 * name is one for each version of Node.
 */
function environment(): Record<string, string> {
  const folder = getCompileCacheDir?.()
  return folder === undefined ? {} : { NODE_COMPILE_CACHE: dirname(folder) }
}

/** A thread is not trusted: it calls what is listed and nothing else. */
async function perform(
  message: Extract<FromThread, { readonly type: 'call' }>,
  host: ScriptHost,
): Promise<unknown> {
  if (message.target === 'write') return host.write(message.output, message.piece)
  if (message.target === 'command') return host.runCommand(message.call)
  const { method, args } = message
  if (!FILE_METHODS.has(method)) throw new Error('no such call')
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- wrong arguments are the file system's to reject
  const call = host.files[method] as (...args: readonly unknown[]) => Promise<unknown>
  return call(...args)
}

/** The content of a file is the reader's: it is moved, and not copied. */
function transferable(value: unknown): ArrayBuffer[] {
  if (!(value instanceof Uint8Array) || !(value.buffer instanceof ArrayBuffer)) return []
  return value.byteLength === value.buffer.byteLength ? [value.buffer] : []
}

function describe(error: unknown): CallError {
  const message = error instanceof Error ? error.message : String(error)
  const hasCode = typeof error === 'object' && error !== null && 'code' in error
  return hasCode && typeof error.code === 'string' ? { code: error.code, message } : { message }
}

async function complain(host: ScriptHost, reason: string, exitCode = KILLED): Promise<ScriptEnd> {
  if (reason !== '') await host.write('stderr', new TextEncoder().encode(`bash: ${reason}\n`))
  return { exitCode }
}
