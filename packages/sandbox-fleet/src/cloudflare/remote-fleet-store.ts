import type { JsonValue } from '@helix-agents/core'
import { FleetError } from '@helix-agents/core/runtime'
import type { FleetStore } from '../store/fleet-store.ts'
import type { FleetDirectory } from './fleet-directory.ts'
import { type FleetReply, fromReply } from './fleet-reply.ts'

/** What of a `FleetDirectory` is called from outside. A stub of one fits. */
export type FleetDirectoryStub = Pick<
  FleetDirectory,
  | 'create'
  | 'find'
  | 'update'
  | 'list'
  | 'due'
  | 'counts'
  | 'firstCreatedAt'
  | 'prune'
  | 'addUsage'
  | 'usageSince'
  | 'acquireLease'
  | 'releaseLease'
  | 'now'
  | 'readState'
  | 'writeState'
>

/** Options of `remoteFleetStore`. */
export interface RemoteFleetStoreOptions {
  /**
   * Everybody goes by the clock of the object, which costs each process two calls a minute: for
   * callers whose own clocks may be wrong. Those of Workers are right. Default false.
   */
  readonly useLedgerTime?: boolean
}

/**
 * The ledger in a Durable Object, for the code of a Worker. Errors of the ledger arrive as they
 * are; that the object cannot be reached is `unavailable`.
 */
export function remoteFleetStore(
  stub: FleetDirectoryStub,
  { useLedgerTime = false }: RemoteFleetStoreOptions = {},
): FleetStore {
  return {
    create: (record, options) => reach(() => stub.create(record, options)),
    get: (id) => reach(() => stub.find(id)),
    update: (next, options) => reach(() => stub.update(next, options)),
    list: (query) => reach(() => stub.list(query)),
    due: (query) => reach(() => stub.due(query)),
    counts: (environment) => reach(() => stub.counts(environment)),
    firstCreatedAt: (environment) => reach(() => stub.firstCreatedAt(environment)),
    prune: (options) => reach(() => stub.prune(options)),
    addUsage: (usage, at) => reach(() => stub.addUsage(usage, at)),
    usageSince: (since) => reach(() => stub.usageSince(since)),
    acquireLease: (request) => reach(() => stub.acquireLease(request)),
    releaseLease: (fence) => reach(() => stub.releaseLease(fence)),
    hasRightClocks: true,
    ...(useLedgerTime && { now: () => reach(() => stub.now()) }),
    readState: async (key) => {
      const json = await reach(() => stub.readState(key))
      if (json === undefined) return undefined
      const value: JsonValue = JSON.parse(json)
      return value
    },
    writeState: (key, value) => reach(() => stub.writeState(key, JSON.stringify(value))),
  }
}

async function reach<T>(call: () => Promise<FleetReply<T>>): Promise<T> {
  return fromReply(await answerOf(call))
}

async function answerOf<T>(call: () => Promise<FleetReply<T>>): Promise<FleetReply<T>> {
  try {
    return await call()
  } catch (cause) {
    throw new FleetError('unavailable', 'the object of the ledger did not answer', { cause })
  }
}
