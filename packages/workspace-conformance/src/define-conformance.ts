import type { Behaviour, Deviation } from './behaviour.ts'
import type { Runner } from './runner.ts'

/** What is put to the test. */
export interface ConformanceSubject<Subject> {
  /** A fresh, empty subject for each behaviour. */
  create(): Promise<Subject>
  /** Called after each behaviour, whether it passed or not. */
  dispose?(subject: Subject): Promise<void>
  /** What the subject offers, for behaviours with `needs`. */
  readonly offers?: readonly string[]
  readonly deviations?: readonly Deviation[]
}

/** Generous: only what hangs comes here, however busy the machine is. */
const TIMEOUT_MS = 60_000
const SLOW_TIMEOUT_MS = 120_000

/**
 * Registers one test a behaviour. A declared deviation is registered through `runner.fails`, so
 * that it turns red once the clause is met.
 * @throws {Error} when a deviation names no registered behaviour, or one is declared twice.
 */
export function defineConformance<Subject>(
  runner: Runner,
  behaviours: readonly Behaviour<Subject>[],
  subject: ConformanceSubject<Subject>,
): void {
  const offered = new Set(subject.offers)
  const applicable = behaviours.filter((one) => (one.needs ?? []).every((it) => offered.has(it)))
  const reasons = readDeviations(
    subject.deviations ?? [],
    applicable.map((one) => one.id),
  )
  for (const behaviour of applicable) register(runner, behaviour, subject, reasons)
}

function register<Subject>(
  runner: Runner,
  behaviour: Behaviour<Subject>,
  subject: ConformanceSubject<Subject>,
  reasons: ReadonlyMap<string, string>,
): void {
  const run = async (): Promise<void> => {
    const created = await subject.create()
    try {
      await behaviour.run(created)
    } finally {
      await subject.dispose?.(created)
    }
  }
  const timeoutMs = behaviour.slow ? SLOW_TIMEOUT_MS : TIMEOUT_MS
  const reason = reasons.get(behaviour.id)
  if (reason === undefined) runner.it(behaviour.id, run, timeoutMs)
  else runner.fails(`${behaviour.id} (deviation: ${reason})`, run, timeoutMs)
}

/** Checks the deviations against the ids of the behaviours that will run. */
export function readDeviations(
  deviations: readonly Deviation[],
  ids: readonly string[],
): ReadonlyMap<string, string> {
  const known = new Set(ids)
  const reasons = new Map<string, string>()
  for (const { behaviour, reason } of deviations) {
    if (!known.has(behaviour)) throw new Error(`unknown behaviour in deviations: ${behaviour}`)
    if (reasons.has(behaviour)) throw new Error(`deviation declared twice: ${behaviour}`)
    reasons.set(behaviour, reason)
  }
  return reasons
}
