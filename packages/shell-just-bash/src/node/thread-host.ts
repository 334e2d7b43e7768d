import type { MessagePort } from 'node:worker_threads'
import type { HostCommandResult, OutputName, ScriptFiles, ScriptHost } from '../script/script.ts'
import type { CallError, FileCall, ThreadCall } from './protocol.ts'

/** Pieces of output that may be on their way: more would fill the memory of a slow reader. */
const MAX_PENDING_PIECES = 32
const MAX_PENDING_BYTES = 256 * 1024

interface Waiting {
  resolve(value: unknown): void
  reject(error: Error): void
}

/** The host of a script, as the thread of the script reaches it. */
export class ThreadHost implements ScriptHost {
  readonly files: ScriptFiles
  readonly #port: MessagePort
  readonly #waiting = new Map<number, Waiting>()
  #lastId = 0
  #pendingBytes = 0
  readonly #pendingWrites = new Set<Promise<unknown>>()

  constructor(port: MessagePort) {
    this.#port = port
    this.files = {
      readFile: (...args) => this.#file('readFile', args),
      writeFile: (...args) => this.#file('writeFile', args),
      appendFile: (...args) => this.#file('appendFile', args),
      ls: (...args) => this.#file('ls', args),
      stat: (...args) => this.#file('stat', args),
      mkdir: (...args) => this.#file('mkdir', args),
      rm: (...args) => this.#file('rm', args),
      copy: (...args) => this.#file('copy', args),
      move: (...args) => this.#file('move', args),
      grep: (...args) => this.#file('grep', args),
      settle: (...args) => this.#file('settle', args),
    }
  }

  async write(output: OutputName, piece: Uint8Array): Promise<void> {
    const copy = Uint8Array.from(piece)
    const { length } = copy
    this.#pendingBytes += length
    const sent = this.#call<void>({ target: 'write', output, piece: copy }, [copy.buffer]).finally(
      () => {
        this.#pendingBytes -= length
        this.#pendingWrites.delete(sent)
      },
    )
    this.#pendingWrites.add(sent)
    while (
      this.#pendingBytes > MAX_PENDING_BYTES ||
      this.#pendingWrites.size > MAX_PENDING_PIECES
    ) {
      await Promise.race(this.#pendingWrites)
    }
  }

  runCommand(call: Parameters<ScriptHost['runCommand']>[0]): Promise<HostCommandResult> {
    return this.#call<HostCommandResult>({ target: 'command', call })
  }

  /** A script has this thread for itself. */
  async turn(): Promise<void> {}

  /** All output has arrived. */
  async flush(): Promise<void> {
    await Promise.all(this.#pendingWrites)
  }

  resolve(id: number, value: unknown): void {
    this.#take(id)?.resolve(value)
  }

  reject(id: number, { code, message }: CallError): void {
    this.#take(id)?.reject(Object.assign(new Error(message), { code }))
  }

  #take(id: number): Waiting | undefined {
    const waiting = this.#waiting.get(id)
    this.#waiting.delete(id)
    return waiting
  }

  #file<T>(method: FileCall['method'], args: readonly unknown[]): Promise<T> {
    return this.#call<T>({ target: 'files', method, args })
  }

  /** @returns What the host's method of that name gives, by which the caller knows the type. */
  #call<T>(call: ThreadCall, transfer: readonly ArrayBuffer[] = []): Promise<T> {
    this.#lastId += 1
    const id = this.#lastId
    const answer = Promise.withResolvers<T>()
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- see above
    const resolve = (value: unknown): void => answer.resolve(value as T)
    this.#waiting.set(id, { resolve, reject: answer.reject })
    this.#port.postMessage({ type: 'call', id, ...call }, transfer)
    return answer.promise
  }
}
