import type { QuickJSContext, QuickJSHandle } from 'quickjs-emscripten-core'
import type { SessionHost } from '../protocol.ts'
import type { OutputBuffer } from './output-buffer.ts'

/** Operations on files that may be under way at once. */
const MAX_CALLS = 64

/** What the entries work for; another one with each run. */
export interface EntriesTarget {
  readonly outputs: OutputBuffer
  readonly host: SessionHost
}

/**
 * The functions of the host that the prelude gets. Only strings, in JSON, and buffers pass, and all
 * are copied: no object of the host is ever in reach of code.
 */
export class HostEntries {
  readonly #context: QuickJSContext
  readonly #target: () => EntriesTarget
  readonly #underWay = new Set<Promise<void>>()
  #failure: { readonly error: unknown } | undefined

  constructor(context: QuickJSContext, target: () => EntriesTarget) {
    this.#context = context
    this.#target = target
  }

  /** Operations on files that the code may wait for. */
  get underWay(): ReadonlySet<Promise<void>> {
    return this.#underWay
  }

  /** A failure of the workspace that is not for the code to catch. */
  get failure(): { readonly error: unknown } | undefined {
    return this.#failure
  }

  forgetFailure(): void {
    this.#failure = undefined
  }

  /** An object of the interpreter; the caller disposes of it. */
  create(): QuickJSHandle {
    const context = this.#context
    const entries = context.newObject()
    this.#add(entries, 'emit', (stream, text) => {
      this.#target().outputs.print(this.#name(stream), this.#text(text))
    })
    this.#add(entries, 'show', (mime, content) => {
      this.#target().outputs.show(context.getString(mime), this.#content(content))
    })
    this.#add(entries, 'encode', (text) =>
      context.newArrayBuffer(copyOf(new TextEncoder().encode(this.#text(text)))),
    )
    this.#add(entries, 'decode', (data) =>
      context.newString(JSON.stringify(new TextDecoder().decode(this.#bytes(data)))),
    )
    this.#add(entries, 'call', (op, args, data) => this.#call(op, args, data))
    return entries
  }

  #add(
    entries: QuickJSHandle,
    name: string,
    entry: (one: QuickJSHandle, two: QuickJSHandle, three: QuickJSHandle) => QuickJSHandle | void,
  ): void {
    const absent = this.#context.undefined
    using made = this.#context.newFunction(
      name,
      (one = absent, two = absent, three = absent) => entry(one, two, three) ?? absent,
    )
    this.#context.setProp(entries, name, made)
  }

  #call(op: QuickJSHandle, args: QuickJSHandle, data: QuickJSHandle): QuickJSHandle {
    if (this.#underWay.size >= MAX_CALLS) {
      throw new RangeError(`more than ${MAX_CALLS} operations on files at once: await some of them`)
    }
    const given: unknown = JSON.parse(this.#context.getString(args))
    const call = {
      op: this.#context.getString(op),
      args: Array.isArray(given) ? given : [],
      ...(this.#context.typeof(data) !== 'undefined' && { data: this.#content(data) }),
    }
    const deferred = this.#context.newPromise()
    const done = this.#answer(this.#target().host, call, deferred).finally(() =>
      this.#underWay.delete(done),
    )
    this.#underWay.add(done)
    return deferred.handle
  }

  async #answer(
    host: SessionHost,
    call: Parameters<SessionHost['callFile']>[0],
    deferred: ReturnType<QuickJSContext['newPromise']>,
  ): Promise<void> {
    try {
      const reply = await host.callFile(call)
      if (!this.#context.alive) return
      if ('failure' in reply) {
        using text = this.#context.newString(JSON.stringify(reply.failure))
        deferred.reject(text)
        return
      }
      using value = this.#valueOf(reply)
      deferred.resolve(value)
    } catch (error) {
      this.#failure ??= { error }
    }
  }

  #valueOf({ bytes, json }: { bytes?: Uint8Array; json?: string }): QuickJSHandle {
    if (bytes !== undefined) return this.#context.newArrayBuffer(copyOf(bytes))
    return this.#context.newString(json ?? 'null')
  }

  #name(stream: QuickJSHandle): 'stdout' | 'stderr' {
    return this.#context.getString(stream) === 'stderr' ? 'stderr' : 'stdout'
  }

  #text(json: QuickJSHandle): string {
    const text: unknown = JSON.parse(this.#context.getString(json))
    return String(text)
  }

  #content(data: QuickJSHandle): string | Uint8Array {
    return this.#context.typeof(data) === 'string' ? this.#text(data) : this.#bytes(data)
  }

  #bytes(data: QuickJSHandle): Uint8Array {
    using view = this.#context.getArrayBuffer(data)
    return view.value.slice()
  }
}

function copyOf(bytes: Uint8Array): ArrayBuffer {
  const copy = new Uint8Array(bytes.length)
  copy.set(bytes)
  return copy.buffer
}
