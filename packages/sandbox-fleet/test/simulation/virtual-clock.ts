import type { Clock } from '@helix-agents/core'

interface Timer {
  readonly at: number
  readonly order: number
  readonly callback: () => void
  isCancelled: boolean
}

/** The time of a simulated world: it jumps from one event to the next. */
export class VirtualClock implements Clock {
  #now = 1_000_000_000
  #order = 0
  /** A binary heap, the earliest first. */
  readonly #heap: Timer[] = []

  now(): number {
    return this.#now
  }

  setTimer(ms: number, callback: () => void): () => void {
    const at = this.#now + Math.max(0, ms)
    const timer = { at, order: (this.#order += 1), callback, isCancelled: false }
    this.#push(timer)
    return () => {
      timer.isCancelled = true
    }
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason)
      const cancel = this.setTimer(ms, resolve)
      signal?.addEventListener('abort', () => {
        cancel()
        reject(signal.reason)
      })
    })
  }

  /** Lets everything happen until then. */
  async runUntil(until: number): Promise<number> {
    let events = 0
    await drain()
    for (let next = this.#heap[0]; next !== undefined && next.at <= until; next = this.#heap[0]) {
      this.#pop()
      if (next.isCancelled) continue
      this.#now = Math.max(this.#now, next.at)
      next.callback()
      events += 1
      await drain()
    }
    this.#now = Math.max(this.#now, until)
    return events
  }

  #push(timer: Timer): void {
    const heap = this.#heap
    let at = heap.push(timer) - 1
    while (at > 0) {
      const parent = (at - 1) >> 1
      if (isBefore(heap[parent]!, timer)) break
      heap[at] = heap[parent]!
      at = parent
    }
    heap[at] = timer
  }

  #pop(): void {
    const heap = this.#heap
    const last = heap.pop()!
    if (heap.length === 0) return
    let at = 0
    for (;;) {
      let child = at * 2 + 1
      if (child >= heap.length) break
      if (child + 1 < heap.length && isBefore(heap[child + 1]!, heap[child]!)) child += 1
      if (isBefore(last, heap[child]!)) break
      heap[at] = heap[child]!
      at = child
    }
    heap[at] = last
  }
}

function isBefore(a: Timer, b: Timer): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order)
}

/**
 * Every promise chain runs to its next wait: a tick comes after all of them. A turn of the event
 * loop would do as well, and takes longer; nothing here waits for one.
 */
function drain(): Promise<void> {
  return new Promise((resolve) => {
    process.nextTick(resolve)
  })
}

/**
 * The time as one process sees it: its clock may be off, and it stops when the process dies. What
 * the process waits for then never happens.
 */
export class ProcessClock implements Clock {
  isDead = false
  readonly #world: VirtualClock
  #offsetMs: number

  constructor(world: VirtualClock, offsetMs: number) {
    this.#world = world
    this.#offsetMs = offsetMs
  }

  now(): number {
    return this.#world.now() + this.#offsetMs
  }

  /** Somebody sets it, or the machine was asleep. */
  leap(ms: number): void {
    this.#offsetMs += ms
  }

  setTimer(ms: number, callback: () => void): () => void {
    return this.#world.setTimer(ms, () => {
      if (!this.isDead) callback()
    })
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason)
      const cancel = this.setTimer(ms, resolve)
      signal?.addEventListener('abort', () => {
        cancel()
        reject(signal.reason)
      })
    })
  }
}
