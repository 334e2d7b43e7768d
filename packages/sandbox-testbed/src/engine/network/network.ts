import type { Fault } from '../../faults/fault.ts'
import type { ArmedFault, FaultSet } from '../../faults/fault-set.ts'

interface LateMessage {
  readonly delayMs: number
  readonly frozen: boolean
  readonly arrive: () => void
}

export type Direction = 'to-container' | 'from-container'

const SENDERS = { 'to-container': 'worker', 'from-container': 'container' } as const

/** Delivers the messages of one connection, in order, slowly or not at all when a fault says so. */
export class Network {
  readonly #faults: FaultSet
  readonly #container: string
  readonly #last: Record<Direction, Promise<void> | undefined> = {
    'to-container': undefined,
    'from-container': undefined,
  }

  /** Bytes that have passed under each fault that counts them. */
  readonly #passed = new WeakMap<Fault, number>()
  readonly #waiting: Record<Direction, number> = { 'to-container': 0, 'from-container': 0 }

  constructor(faults: FaultSet, container: string) {
    this.#faults = faults
    this.#container = container
  }

  /** Calls `arrive` at once, or when the network lets the message through. */
  deliver(direction: Direction, arrive: () => void): void {
    const slow = this.#faults.take('slow-network', this.#container)
    const before = this.#last[direction]
    const frozen = this.#faults.take('frozen-network', this.#container) !== undefined
    if (slow === undefined && !frozen && before === undefined) return arrive()
    this.#waiting[direction]++
    this.#last[direction] = this.#deliverLater(direction, before, {
      delayMs: slow?.delayMs ?? 0,
      frozen,
      arrive,
    })
  }

  async #deliverLater(
    direction: Direction,
    before: Promise<void> | undefined,
    { delayMs, frozen, arrive }: LateMessage,
  ): Promise<void> {
    await Promise.all([before, delay(delayMs), frozen ? this.#thaw() : undefined])
    arrive()
    this.#waiting[direction]--
    if (this.#waiting[direction] === 0) this.#last[direction] = undefined
  }

  /** The fault that cuts off the answer of a call that begins now, if there is one. */
  losesReply(method: string): ArmedFault<'lost-reply'> | undefined {
    return this.#faults.arm('lost-reply', this.#container, ({ call }) => isCall(call, method))
  }

  /** Whether the connection breaks at a call that begins now. */
  interrupts(method: string): 'pass' | 'cut' | 'pass-then-cut' {
    const fault = this.#faults.take('interrupted', this.#container, ({ call }) =>
      isCall(call, method),
    )
    if (fault === undefined) return 'pass'
    return fault.when === 'before-admission' ? 'cut' : 'pass-then-cut'
  }

  /** Whether the connection breaks in front of a message of so many bytes. */
  cutsOff(direction: Direction, bytes: number): boolean {
    const fault = this.#faults.take('cut-off', this.#container, (each) => {
      if (SENDERS[direction] !== each.sender) return false
      const passed = (this.#passed.get(each) ?? 0) + bytes
      this.#passed.set(each, passed)
      return passed > each.afterBytes
    })
    return fault !== undefined
  }

  async #thaw(): Promise<void> {
    // Its times may have run out with this very message.
    if (!this.#faults.has('frozen-network', this.#container)) return
    const { promise, resolve } = Promise.withResolvers<void>()
    const stop = this.#faults.onEnd(() => {
      if (!this.#faults.has('frozen-network', this.#container)) resolve()
    })
    await promise
    stop()
  }
}

async function delay(delayMs: number): Promise<void> {
  if (delayMs > 0) await new Promise((resolve) => setTimeout(resolve, delayMs))
}

/** Faults that name no call mean every call that does work, not the handshakes of the SDK. */
function isCall(wanted: string | undefined, method: string): boolean {
  return wanted === undefined ? !method.startsWith('utils.') : wanted === method
}
