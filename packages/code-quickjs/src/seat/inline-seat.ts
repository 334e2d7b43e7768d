import type { SessionLimits, SessionOutcome, SessionRequest } from '../protocol.ts'
import { QuickJsSession } from '../vm/session.ts'
import type { Seat, SeatHost } from './seat.ts'

/** Runs code where it is called: for a platform without threads, which bounds the time of a call itself. */
export class InlineSeat implements Seat {
  readonly #session: () => Promise<QuickJsSession>
  #started: Promise<QuickJsSession> | undefined
  #isEnded = false

  constructor(wasm: WebAssembly.Module, limits: SessionLimits) {
    this.#session = () => QuickJsSession.create(wasm, limits)
  }

  async run(request: SessionRequest, host: SeatHost): Promise<SessionOutcome> {
    this.#started ??= this.#session()
    const session = await this.#started
    const isAborted = (): boolean => this.#isEnded || host.signal?.aborted === true
    return session.run(request, { ...host, isAborted })
  }

  end(): void {
    this.#isEnded = true
    this.#started = undefined
  }
}
