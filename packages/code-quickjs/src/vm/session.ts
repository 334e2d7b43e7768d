import {
  newQuickJSWASMModuleFromVariant,
  newVariant,
  type QuickJSContext,
  type QuickJSHandle,
  type QuickJSRuntime,
  type QuickJSWASMModule,
} from 'quickjs-emscripten-core'
import imported from '@jitl/quickjs-wasmfile-release-sync'
import type { SessionHost, SessionLimits, SessionOutcome, SessionRequest } from '../protocol.ts'
import { type EntriesTarget, HostEntries } from './host-entries.ts'
import { OutputBuffer } from './output-buffer.ts'
import { prepareSource } from './prepare-source.ts'
import { PRELUDE_SOURCE } from './prelude.ts'

/** Top-level `await`, and the value of the last statement as `{ value }`. */
const EVAL_ASYNC = 1 << 7
/** The interpreter asks this often at most per millisecond; where the clock stands still, it counts. */
const POLLS_PER_MS = 50
const JOBS_AT_ONCE = 1000
const PAGE_BYTES = 64 * 1024
/** What the compiled interpreter starts with. */
const FIRST_PAGES = 256
/** Some bundlers give the module, others what it exports by default. */
const variant = 'default' in imported ? imported.default : imported
const NO_TARGET: EntriesTarget = {
  outputs: new OutputBuffer(
    { memoryBytes: 0, stackBytes: 0, outputBytes: 0, displayBytes: 0 },
    () => {},
  ),
  host: { callFile: async () => ({}), onOutputs: () => {}, isAborted: () => true },
}

/** The time of one run, and what ended it. */
class RunTime {
  readonly #deadline: number
  readonly #isAborted: () => boolean
  #pollsLeft: number
  ended: 'timeout' | 'aborted' | undefined

  constructor(timeoutMs: number, isAborted: () => boolean) {
    this.#deadline = Date.now() + timeoutMs
    this.#pollsLeft = timeoutMs * POLLS_PER_MS
    this.#isAborted = isAborted
  }

  /** Whether the run must end. */
  isOver(): boolean {
    this.#pollsLeft -= 1
    if (this.ended !== undefined) return true
    if (this.#isAborted()) this.ended = 'aborted'
    else if (this.#pollsLeft < 0 || Date.now() >= this.#deadline) this.ended = 'timeout'
    return this.ended !== undefined
  }

  /** Resolves at the deadline. */
  get rest(): number {
    return Math.max(0, this.#deadline - Date.now())
  }
}

/**
 * One interpreter with memory of its own, and one context in it. Variables stay from one run to the
 * next; a run that was ended leaves nothing that can be used.
 */
export class QuickJsSession {
  readonly #limits: SessionLimits
  readonly #quickjs: QuickJSWASMModule
  readonly #runtime: QuickJSRuntime
  readonly #context: QuickJSContext
  readonly #entries: HostEntries
  readonly #prelude: QuickJSHandle
  #target = NO_TARGET
  #time: RunTime | undefined
  #runs = 0

  private constructor(quickjs: QuickJSWASMModule, limits: SessionLimits) {
    const runtime = quickjs.newRuntime()
    this.#limits = limits
    this.#quickjs = quickjs
    this.#runtime = runtime
    runtime.setMemoryLimit(limits.memoryBytes)
    runtime.setMaxStackSize(limits.stackBytes)
    runtime.setInterruptHandler(() => this.#time?.isOver() ?? false)
    this.#context = runtime.newContext()
    this.#entries = new HostEntries(this.#context, () => this.#target)
    this.#prelude = this.#install()
  }

  static async create(wasm: WebAssembly.Module, limits: SessionLimits): Promise<QuickJsSession> {
    const wasmMemory = memoryOf(limits)
    const quickjs = await newQuickJSWASMModuleFromVariant(
      newVariant(variant, { wasmModule: wasm, wasmMemory }),
    )
    return new QuickJsSession(quickjs, limits)
  }

  /** Bytes of the whole interpreter; they never become fewer. */
  get heldBytes(): number {
    return this.#quickjs.getWasmMemory().buffer.byteLength
  }

  /** @throws what an operation on files fails with that code cannot catch. */
  async run(request: SessionRequest, host: SessionHost): Promise<SessionOutcome> {
    const outputs = new OutputBuffer(this.#limits, host.onOutputs)
    const time = new RunTime(request.timeoutMs, host.isAborted)
    this.#target = { outputs, host }
    this.#time = time
    this.#entries.forgetFailure()
    this.#runs += 1
    try {
      const outcome = await this.#evaluate(request, time)
      return cutOutcome(time.ended === undefined ? outcome : { ended: time.ended }, outputs)
    } catch (error) {
      if (this.#entries.failure !== undefined) throw this.#entries.failure.error
      return { ended: 'crashed', error: crashOf(error) }
    } finally {
      outputs.finish()
      this.#target = NO_TARGET
      this.#time = undefined
    }
  }

  async #evaluate(request: SessionRequest, time: RunTime): Promise<SessionOutcome> {
    let code: string
    try {
      code = prepareSource(request.language, request.code)
    } catch (error) {
      return {
        error: { name: 'SyntaxError', message: String(Reflect.get(Object(error), 'message')) },
      }
    }
    using begun = this.#callPrelude('begin', this.#context.undefined)
    void begun
    const found = this.#context.evalCode(code, `<run ${this.#runs}>`, EVAL_ASYNC)
    if (found.error !== undefined) {
      using error = found.error
      return time.ended === undefined ? this.#report(error) : {}
    }
    using running = found.value
    using settled = this.#callPrelude('settle', running)
    return await this.#settle(settled, time)
  }

  /** Lets jobs run, and waits for files, until the promise is settled. */
  async #settle(promise: QuickJSHandle, time: RunTime): Promise<SessionOutcome> {
    for (;;) {
      this.#runJobs(time)
      if (time.ended !== undefined) return {}
      const state = this.#context.getPromiseState(promise)
      if (state.type === 'fulfilled') return this.#read(state.value)
      if (state.type === 'rejected') return this.#report(state.error)
      if (this.#entries.underWay.size === 0) return { error: UNSETTLED }
      await this.#waitForFiles(time)
      if (this.#entries.failure !== undefined) throw this.#entries.failure.error
      if (time.isOver()) return {}
    }
  }

  #runJobs(time: RunTime): void {
    while (this.#runtime.hasPendingJob() && !time.isOver()) {
      const done = this.#runtime.executePendingJobs(JOBS_AT_ONCE)
      if (done.error === undefined) continue
      // Of a job that was interrupted; what code throws in a job settles a promise.
      done.error.dispose()
    }
  }

  async #waitForFiles(time: RunTime): Promise<void> {
    let timer: ReturnType<typeof setTimeout> | undefined
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, time.rest)
    })
    try {
      await Promise.race([...this.#entries.underWay, late])
    } finally {
      clearTimeout(timer)
    }
  }

  /** Code that changed the built-ins may leave an error that cannot be shown. */
  #report(error: QuickJSHandle): SessionOutcome {
    using report = this.#context.getProp(this.#prelude, 'report')
    const found = this.#context.callFunction(report, this.#context.undefined, error)
    if (found.error === undefined) return this.#read(found.value)
    found.error.dispose()
    return { error: { name: 'Error', message: 'the code threw what cannot be shown' } }
  }

  #read(text: QuickJSHandle): SessionOutcome {
    using handle = text
    const found: unknown = JSON.parse(this.#context.getString(handle))
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by the prelude
    return found as SessionOutcome
  }

  #install(): QuickJSHandle {
    using create = this.#context.unwrapResult(
      this.#context.evalCode(PRELUDE_SOURCE, 'helix:prelude'),
    )
    using entries = this.#entries.create()
    return this.#context.unwrapResult(
      this.#context.callFunction(create, this.#context.undefined, entries),
    )
  }

  #callPrelude(name: string, argument: QuickJSHandle): QuickJSHandle {
    using entry = this.#context.getProp(this.#prelude, name)
    return this.#context.unwrapResult(
      this.#context.callFunction(entry, this.#context.undefined, argument),
    )
  }
}

/**
 * The memory of one interpreter. Its end is the bound: the interpreter's own count leaves out most of
 * what it allocates.
 */
function memoryOf({ memoryBytes }: SessionLimits): WebAssembly.Memory {
  const maximum = Math.max(FIRST_PAGES, Math.ceil(memoryBytes / PAGE_BYTES))
  return new WebAssembly.Memory({ initial: FIRST_PAGES, maximum })
}

const UNSETTLED = {
  name: 'UnsettledPromise',
  message: 'the code awaits what nothing is left to settle',
}

/** The interpreter is broken: the stack of the platform ended, or its memory before ours. */
function crashOf(error: unknown): NonNullable<SessionOutcome['error']> {
  if (error instanceof RangeError) {
    return { name: 'RangeError', message: 'the code is nested too deeply; its context is gone' }
  }
  return { name: 'InternalError', message: 'the code broke its interpreter; its context is gone' }
}

function cutOutcome(outcome: SessionOutcome, outputs: OutputBuffer): SessionOutcome {
  const { json, text, error } = outcome
  if (error !== undefined) return outcome
  const shown = json ?? text
  if (shown === undefined) return outcome
  const cut = outputs.cut(shown)
  return cut === shown ? outcome : { text: cut }
}
