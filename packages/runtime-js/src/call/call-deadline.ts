import { type Clock, ToolFailedError, type Tool } from '@helix-agents/core'

/** Time for a tool to return what it has, after its signal has aborted. */
const STOP_GRACE_MS = 5_000

/** The signal of one tool call: the run's, and the end of the time of the tool. */
export class CallDeadline {
  readonly signal: AbortSignal
  readonly #clock: Clock
  readonly #tool: Tool
  readonly #release: () => void
  #isOver = false

  constructor(tool: Tool, runSignal: AbortSignal, clock: Clock) {
    this.#tool = tool
    this.#clock = clock
    const { timeoutMs } = tool
    if (timeoutMs === undefined) {
      this.signal = runSignal
      this.#release = () => {}
      return
    }
    const own = new AbortController()
    const follow = (): void => own.abort(runSignal.reason)
    const onTime = (): void => {
      this.#isOver = true
      own.abort(new DOMException('the time of the tool is up', 'TimeoutError'))
    }
    const cancelTimer = clock.setTimer(timeoutMs, onTime, { keepsProcessAlive: true })
    runSignal.addEventListener('abort', follow)
    this.signal = own.signal
    this.#release = () => {
      cancelTimer()
      runSignal.removeEventListener('abort', follow)
    }
  }

  /**
   * Waits for the call; after its signal has aborted, for a grace period.
   * @throws {ToolFailedError} `tool-timeout` when the time of the tool was up.
   */
  async settle<T>(work: Promise<T>): Promise<T> {
    try {
      return await withGrace(work, this.signal, this.#clock)
    } catch (error) {
      throw this.#isOver && isStop(error) ? this.#timeout(error) : error
    } finally {
      this.#release()
    }
  }

  /** For work that ends by itself when the signal says so. */
  async settleFully<T>(work: Promise<T>): Promise<T> {
    try {
      return await work
    } catch (error) {
      throw this.#isOver ? this.#timeout(error) : error
    } finally {
      this.#release()
    }
  }

  #timeout(cause: unknown): ToolFailedError {
    const { name, timeoutMs } = this.#tool
    return new ToolFailedError('tool-timeout', `${name} did not end within ${timeoutMs} ms`, {
      cause,
      hint: 'Ask for less at once.',
    })
  }
}

function isStop(error: unknown): boolean {
  return error instanceof Error && (error.name === 'AbortError' || error.name === 'TimeoutError')
}

async function withGrace<T>(work: Promise<T>, signal: AbortSignal, clock: Clock): Promise<T> {
  const { promise: timeIsUp, reject } = Promise.withResolvers<never>()
  let cancelTimer: (() => void) | undefined
  const onTime = (): void => reject(signal.reason)
  const startGrace = (): void => {
    cancelTimer = clock.setTimer(STOP_GRACE_MS, onTime, { keepsProcessAlive: true })
  }
  if (signal.aborted) startGrace()
  else signal.addEventListener('abort', startGrace)
  try {
    return await Promise.race([work, timeIsUp])
  } finally {
    cancelTimer?.()
    signal.removeEventListener('abort', startGrace)
  }
}
