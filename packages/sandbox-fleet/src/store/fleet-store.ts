import type { JsonValue } from '@helix-agents/core'
import type { FleetCounts } from '../ledger/record-counts.ts'
import type { SandboxRecord, SandboxStatus } from '../ledger/sandbox-record.ts'

/** Which records to list. Every field that is given must fit. */
export interface FleetQuery {
  readonly status?: SandboxStatus | readonly SandboxStatus[]
  readonly provider?: string
  readonly environment?: string
  readonly sessionId?: string
  readonly agentType?: string
  readonly taskId?: string
  readonly tenant?: string
  /** Only those in a pool of this name. */
  readonly pool?: string
  /** Only those made at this time or before, in milliseconds since the epoch. */
  readonly createdBefore?: number
  /** Records of a page, 1 to 200. Default 50. */
  readonly limit?: number
  /** The `nextCursor` of the page before. */
  readonly cursor?: string
}

/** One page of records. */
export interface FleetPage {
  readonly records: readonly SandboxRecord[]
  /** Absent on the last page. */
  readonly nextCursor?: string
  /** Records of this page that cannot be read; they are left out, the others are not affected. */
  readonly unreadable: number
}

/** Which records may need attention: see `attentionAt`. The most urgent come first. */
export interface DueQuery {
  readonly environment: string
  /** Milliseconds since the epoch: only records whose time has come by then. */
  readonly until: number
  /** Records of a page, 1 to 200. */
  readonly limit: number
  /** The `nextCursor` of the previous page. */
  readonly cursor?: string
}

/** Proof that a writer still holds its lease. */
export interface LeaseFence {
  readonly name: string
  /** Rises with each new holder. */
  readonly token: number
}

/** A request for a named lease. */
export interface LeaseRequest {
  readonly name: string
  /** The requested holder; the current one renews its lease. */
  readonly holder: string
  /** Lease duration, in milliseconds. */
  readonly ttlMs: number
  /** Time of the caller, in milliseconds since the epoch. */
  readonly now: number
}

/** Operations of all sandboxes. */
export interface FleetUsage {
  readonly executions: number
  /** Operations that timed out. */
  readonly timeouts: number
}

/**
 * Storage of the ledger. Every write is one transaction. What a store throws is a `FleetError`;
 * `unavailable` says that nothing is stored, or that the outcome is unknown.
 */
export interface FleetStore {
  /**
   * Adds a record, `provisioning` or already `running`; one that is `terminated` under the same id
   * gets a new generation.
   * With `maxActive` this is a reservation: together with the check it is one transaction.
   * @throws {FleetError} `already-exists`; `invalid-record`; `capacity-exhausted` when the environment has as many
   * as `maxActive` sandboxes that count against capacity.
   */
  create(record: SandboxRecord, options?: { readonly maxActive?: number }): Promise<SandboxRecord>
  /** @throws {FleetError} `corrupt` */
  get(id: string): Promise<SandboxRecord | undefined>
  /**
   * Replaces the version before `next`.
   * @throws {FleetError} `conflict` when that is not what is stored, `unknown-sandbox`,
   * `invalid-record` for what could not be read again, `lease-lost` when the fence is not that of
   * the present holder.
   */
  update(next: SandboxRecord, options?: { readonly fence?: LeaseFence }): Promise<void>
  /** The newest first. @throws {FleetError} `invalid-query` */
  list(query?: FleetQuery): Promise<FleetPage>
  /** @throws {FleetError} `invalid-query` */
  due(query: DueQuery): Promise<FleetPage>
  /** Of one environment; without one, of all. Reads a handful of rows, however many records. */
  counts(environment?: string): Promise<FleetCounts>
  /**
   * When the sandbox of the oldest record of an environment was made, in milliseconds since the
   * epoch. Undefined without a record.
   */
  firstCreatedAt(environment: string): Promise<number | undefined>
  /** Removes at most `limit` records terminated before `before`. @returns how many. */
  prune(options: { readonly before: number; readonly limit: number }): Promise<number>
  /** Adds to the usage of the minute of `at`. */
  addUsage(usage: FleetUsage, at: number): Promise<void>
  /** Usage of the minutes from that of `since` on. */
  usageSince(since: number): Promise<FleetUsage>
  /** The token of the lease, which rises with every new holder; undefined while another has it. */
  acquireLease(request: LeaseRequest): Promise<number | undefined>
  /** Releases it; does nothing when another holder has it by now. */
  releaseLease(fence: LeaseFence): Promise<void>
  /**
   * The time of the ledger, in milliseconds since the epoch, where it has a clock of its own: all
   * processes then go by that one, and theirs may be off. Absent where each process has the same
   * clock as the others, such as those of one host.
   */
  now?(): Promise<number>
  /**
   * The clocks of all processes that write are right, such as those of Workers: a sweeper believes
   * its own at once. Default false: where `now` is absent too, a sweeper first watches a lease that
   * ran out by its clock, see `leaseProofMs` of the policy.
   */
  readonly hasRightClocks?: boolean
  /** A small value of the fleet itself, such as the time of the last pass. */
  readState(key: string): Promise<JsonValue | undefined>
  /** Replaces a value of `readState`. */
  writeState(key: string, value: JsonValue): Promise<void>
}
