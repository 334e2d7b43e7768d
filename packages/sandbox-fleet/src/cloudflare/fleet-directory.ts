import { DurableObject } from 'cloudflare:workers'
import type { FleetCounts } from '../ledger/record-counts.ts'
import type { SandboxRecord } from '../ledger/sandbox-record.ts'
import { migrateFleet } from '../sql/fleet-schema.ts'
import { SqlFleetStore } from '../sql/sql-fleet-store.ts'
import type {
  DueQuery,
  FleetPage,
  FleetQuery,
  FleetUsage,
  LeaseFence,
  LeaseRequest,
} from '../store/fleet-store.ts'
import { DurableObjectDatabase } from '@helix-agents/store-cloudflare'
import { type FleetReply, toReply } from './fleet-reply.ts'

/**
 * The ledger of a deployment in the SQLite database of one Durable Object: address it by one
 * name, such as `getByName('fleet')`, and wrap the stub with `remoteFleetStore`. Its methods are
 * those of `FleetStore`, and answer with a `FleetReply`; values of the fleet itself travel as JSON.
 */
export class FleetDirectory<Env = unknown> extends DurableObject<Env> {
  readonly #store: SqlFleetStore

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env)
    const database = DurableObjectDatabase.of(ctx.storage)
    this.#store = new SqlFleetStore(database)
    void ctx.blockConcurrencyWhile(() => migrateFleet(database))
  }

  create(
    record: SandboxRecord,
    options?: { readonly maxActive?: number },
  ): Promise<FleetReply<SandboxRecord>> {
    return toReply(() => this.#store.create(record, options))
  }

  find(id: string): Promise<FleetReply<SandboxRecord | undefined>> {
    return toReply(() => this.#store.get(id))
  }

  update(
    next: SandboxRecord,
    options?: { readonly fence?: LeaseFence },
  ): Promise<FleetReply<void>> {
    return toReply(() => this.#store.update(next, options))
  }

  list(query?: FleetQuery): Promise<FleetReply<FleetPage>> {
    return toReply(() => this.#store.list(query))
  }

  due(query: DueQuery): Promise<FleetReply<FleetPage>> {
    return toReply(() => this.#store.due(query))
  }

  counts(environment?: string): Promise<FleetReply<FleetCounts>> {
    return toReply(() => this.#store.counts(environment))
  }

  firstCreatedAt(environment: string): Promise<FleetReply<number | undefined>> {
    return toReply(() => this.#store.firstCreatedAt(environment))
  }

  prune(options: { readonly before: number; readonly limit: number }): Promise<FleetReply<number>> {
    return toReply(() => this.#store.prune(options))
  }

  addUsage(usage: FleetUsage, at: number): Promise<FleetReply<void>> {
    return toReply(() => this.#store.addUsage(usage, at))
  }

  usageSince(since: number): Promise<FleetReply<FleetUsage>> {
    return toReply(() => this.#store.usageSince(since))
  }

  acquireLease(request: LeaseRequest): Promise<FleetReply<number | undefined>> {
    return toReply(() => this.#store.acquireLease(request))
  }

  releaseLease(fence: LeaseFence): Promise<FleetReply<void>> {
    return toReply(() => this.#store.releaseLease(fence))
  }

  now(): Promise<FleetReply<number>> {
    return toReply(async () => Date.now())
  }

  readState(key: string): Promise<FleetReply<string | undefined>> {
    return toReply(async () => {
      const value = await this.#store.readState(key)
      return value === undefined ? undefined : JSON.stringify(value)
    })
  }

  writeState(key: string, json: string): Promise<FleetReply<void>> {
    return toReply(() => this.#store.writeState(key, JSON.parse(json)))
  }
}
