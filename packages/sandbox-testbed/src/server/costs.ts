import { setTimeout as sleep } from 'node:timers/promises'

/**
 * Milliseconds that a call of the real server takes more than here, by the medians recorded from
 * server 0.12.7: it starts a shell where this one asks the system.
 */
const EXTRA_MS = {
  /** 29.5 instead of 1.5. */
  listFiles: 28,
  /** 23.5 instead of 1.5: the type of a file is read when its name does not give it. */
  sniff: 22,
  /** 17.5 instead of 4. */
  session: 13.5,
  /** 9 instead of 1.5. */
  mkdir: 7.5,
  /** 7 instead of 1.5. */
  exists: 5.5,
} as const

export type CostlyCall = keyof typeof EXTRA_MS

/** Takes as long as the real server does, where that is asked for. */
export class Costs {
  readonly #areReal: boolean

  constructor(areReal: boolean) {
    this.#areReal = areReal
  }

  async pay(call: CostlyCall): Promise<void> {
    if (this.#areReal) await sleep(EXTRA_MS[call])
  }
}
