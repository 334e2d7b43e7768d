import type { Fault, FaultKind, FaultOf, InjectedFault } from './fault.ts'

/** The faults in force. */
export interface Faults {
  /** Puts a fault in force, for operations that begin from now on. */
  inject(fault: Fault): InjectedFault
  /** Ends all faults. */
  clear(): void
}

/** Whether a container is the one of a sandbox id. */
export type OwnerTest = (container: string, sandbox: string) => boolean

/** A fault that is about to happen. */
export interface ArmedFault<Kind extends FaultKind> {
  readonly fault: FaultOf<Kind>
  /** Counts it as happened. @returns false when it has ended by now: then nothing is to happen. */
  strike(): boolean
}

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
    const armed = this.arm(kind, container, accepts)
    armed?.strike()
    return armed?.fault
  }

  /**
   * The first fault of a kind for what begins now and is to happen later; counts it only then.
   * Undefined when there is none.
   */
  arm<Kind extends FaultKind>(
    kind: Kind,
    container: string,
    accepts: (fault: FaultOf<Kind>) => boolean = () => true,
  ): ArmedFault<Kind> | undefined {
    for (const active of this.#active) {
      const { fault } = active
      if (!isKind(fault, kind) || !this.#concerns(fault, container) || !accepts(fault)) continue
      if (active.passes()) continue
      return { fault, strike: () => this.#active.has(active) && active.hit() }
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
  #passed = 0
  readonly #end: (active: ActiveFault) => void
  readonly #happen: () => void

  constructor(fault: Fault, end: (active: ActiveFault) => void) {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.fault = fault
    this.happened = promise
    this.#happen = resolve
    this.#end = end
  }

  /** Whether what meets it now is one of those that it lets pass first; counts it then. */
  passes(): boolean {
    if (this.#passed >= (this.fault.skip ?? 0)) return false
    this.#passed++
    return true
  }

  hit(): true {
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
