import { DurableObjectDatabase } from '@helix-agents/store-cloudflare'
import { vi } from 'vitest'
import { createGate } from '../scripts.ts'

/** A write of a session, and which side of it. */
export interface Point {
  readonly at: number
  readonly when: 'before' | 'after'
}

/** Both sides of each of so many writes. */
export function pointsOf(count: number): readonly Point[] {
  return Array.from({ length: count }, (_, index) => index + 1).flatMap((at): Point[] => [
    { at, when: 'before' },
    { at, when: 'after' },
  ])
}

/** Counts the writes of a session, and stops its first instance at one of them. */
export class Writes {
  /** By the database of their first instance. */
  static readonly #all = new Map<DurableObjectDatabase, Writes>()
  readonly point: Point | undefined
  readonly gate = createGate()
  count = 0

  constructor(point?: Point) {
    this.point = point
  }

  /** Of an object that begins. */
  belongTo(storage: DurableObjectStorage): void {
    if (this.count === 0) Writes.#all.set(DurableObjectDatabase.of(storage), this)
  }

  static spy(): void {
    // oxlint-disable-next-line typescript/unbound-method -- it is called with its database
    const write = DurableObjectDatabase.prototype.write
    vi.spyOn(DurableObjectDatabase.prototype, 'write').mockImplementation(async function (
      this: DurableObjectDatabase,
      work,
    ) {
      const writes = Writes.#all.get(this)
      const at = writes === undefined ? 0 : ++writes.count
      await writes?.pass('before', at)
      const result = await write.call(this, work)
      await writes?.pass('after', at)
      return result
    })
  }

  async pass(when: Point['when'], at: number): Promise<void> {
    if (this.point?.when === when && this.point.at === at) await this.gate.pass()
  }
}
