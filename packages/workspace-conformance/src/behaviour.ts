/** One clause of a contract, as data: its id is stable and names the clause. */
export interface Behaviour<Subject> {
  readonly id: string
  /** Takes seconds; gets a long timeout. */
  readonly slow?: true
  /** What the subject must offer for the clause to apply. Not offered: not registered. */
  readonly needs?: readonly string[]
  /** Rejects when the subject does not keep the clause. */
  run(subject: Subject): Promise<void>
}

/** A clause that a subject does not meet, and why. It must still fail: see `defineConformance`. */
export interface Deviation {
  /** Id of the behaviour. */
  readonly behaviour: string
  readonly reason: string
}
