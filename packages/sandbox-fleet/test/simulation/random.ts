/** Numbers that follow from a seed. */
export class Random {
  #state: number

  constructor(seed: number) {
    this.#state = (seed * 2_654_435_761) >>> 0
  }

  /** In [0, 1). */
  next = (): number => {
    this.#state = (this.#state + 0x6d_2b_79_f5) >>> 0
    let mixed = this.#state
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }

  chance(probability: number): boolean {
    return this.next() < probability
  }

  between(low: number, high: number): number {
    return low + this.next() * (high - low)
  }

  int(low: number, high: number): number {
    return Math.floor(this.between(low, high + 1))
  }
}
