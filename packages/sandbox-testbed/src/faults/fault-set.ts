import type { Fault, FaultKind, FaultOf, InjectedFault } from './fault.ts'

/** The faults in force. */
export interface Faults {
  /** Puts a fault in force, for operations that begin from now on. */
  inject(fault: Fault): InjectedFault
  /** Ends all faults. */
  clear(): void
}

/** Tells whether a container is the one of a sandbox id. */
export type OwnerTest = (container: string, sandbox: string) => boolean

/** Keeps the faults and hands them to the places where they happen. */
export class FaultSet implements Faults {
  readonly #isOwner: OwnerTest
  readonly #active = new Set<ActiveFault>()
  readonly #listeners = new Set<() => void>()

  constructor(isOwner: OwnerTest) {
    this.#isOwner = isOwner
  }

  inject(fault: Fault): InjectedFault {
    const active = new ActiveFault(fault, (ended) => this.#end(ended))
    this.#active.add(active)
    return active
  }

  clear(): void {
    for (const fault of this.#active) fault.remove()
  }

  /** The first fault of a kind for a container that skips no more; counts it as happened. */
  take<Kind extends FaultKind>(
    kind: Kind,
    container: string,
    accepts: (fault: FaultOf<Kind>) => boolean = () => true,
  ): FaultOf<Kind> | undefined {
    for (const active of this.#active) {
      const { fault } = active
      if (!isKind(fault, kind) || !this.#concerns(fault, container) || !accepts(fault)) continue
      if (active.meet()) return fault
    }
    return undefined
  }

  /** Whether a fault of a kind is in force for a container; does not count. */
  has(kind: FaultKind, container: string): boolean {
    return [...this.#active].some(
      ({ fault }) => fault.kind === kind && this.#concerns(fault, container),
    )
  }

  /** Calls back at each end of a fault. @returns what ends the calls. */
  onEnd(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  #concerns(fault: Fault, container: string): boolean {
    return fault.sandbox === undefined || this.#isOwner(container, fault.sandbox)
  }

  #end(active: ActiveFault): void {
    if (!this.#active.delete(active)) return
    for (const listener of this.#listeners) listener()
  }
}

class ActiveFault implements InjectedFault {
  readonly fault: Fault
  readonly happened: Promise<void>
  hits = 0
  #skipped = 0
  readonly #end: (active: ActiveFault) => void
  readonly #happen: () => void

  constructor(fault: Fault, end: (active: ActiveFault) => void) {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.fault = fault
    this.happened = promise
    this.#happen = resolve
    this.#end = end
  }

  /** @returns whether it happens now. */
  meet(): boolean {
    if (this.#skipped < (this.fault.skip ?? 0)) {
      this.#skipped++
      return false
    }
    this.hits++
    this.#happen()
    if (this.hits === this.fault.times) this.remove()
    return true
  }

  remove(): void {
    this.#end(this)
  }

  [Symbol.dispose](): void {
    this.remove()
  }
}

function isKind<Kind extends FaultKind>(fault: Fault, kind: Kind): fault is FaultOf<Kind> {
  return fault.kind === kind
}
