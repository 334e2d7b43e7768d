import { FleetError } from '@helix-agents/core/runtime'
import type { FleetStore } from '@helix-agents/sandbox-fleet'

/** A ledger that is not changed: writes are rejected, state and leases are dropped. */
export function readOnlyStore(store: FleetStore): FleetStore {
  return {
    get: (id) => store.get(id),
    list: (query) => store.list(query),
    due: (query) => store.due(query),
    counts: (environment) => store.counts(environment),
    firstCreatedAt: (environment) => store.firstCreatedAt(environment),
    usageSince: (since) => store.usageSince(since),
    readState: (key) => store.readState(key),
    create: reject,
    update: reject,
    prune: reject,
    addUsage: reject,
    acquireLease: async () => undefined,
    releaseLease: async () => {},
    writeState: async () => {},
  }
}

async function reject(): Promise<never> {
  throw new FleetError('not-supported', 'the ledger is open for reading')
}
