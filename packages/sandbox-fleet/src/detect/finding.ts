/**
 * `long-running`: it runs for longer than usual. `stuck`: nothing happens in it any more.
 * `no-owner`: it has no holder. `provisioning-overdue`: it should have started. `past-deadline`: it
 * lives longer than it may. `hold-ending`: its run has held it for nearly as long as it may. `repeated-timeouts`: its operations time out one after the other.
 * `busy-loop`: it computes all the time. `hang`: it waits for something. `memory-growth`: it needs
 * ever more memory. `destroy-owed`: it should be gone. `unreachable`: its state is unknown.
 * `failed`: it cannot be used, and may still be there.
 */
export type FindingKind =
  | 'long-running'
  | 'stuck'
  | 'no-owner'
  | 'provisioning-overdue'
  | 'past-deadline'
  | 'hold-ending'
  | 'repeated-timeouts'
  | 'busy-loop'
  | 'hang'
  | 'memory-growth'
  | 'destroy-owed'
  | 'unreachable'
  | 'failed'

/** Something that an operator should know of a sandbox. */
export interface Finding {
  readonly sandboxId: string
  readonly kind: FindingKind
  readonly severity: 'warning' | 'critical'
  /** The evidence, in one sentence. */
  readonly reason: string
  /** The numbers behind it: times in milliseconds, the others as they are named. */
  readonly evidence: Readonly<Record<string, number | string>>
  /** The next step: automatic, or for the operator. */
  readonly nextStep: string
  /** Since when, in milliseconds since the epoch. */
  readonly since: number
}
