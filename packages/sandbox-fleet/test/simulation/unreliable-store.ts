import type { FleetStore, LeaseFence, SandboxRecord } from '@helix-agents/sandbox-fleet'
import { unavailable, type World } from './world.ts'

/** What is watched at the ledger itself, by all processes. */
export interface LedgerWatch {
  onCreated(record: SandboxRecord): void
  onUpdated(before: SandboxRecord, after: SandboxRecord, fence: LeaseFence | undefined): void
}

/**
 * The ledger as one process reaches it: late, sometimes not at all, and sometimes its answer is
 * lost although the write happened.
 */
export function unreliableStore(
  store: FleetStore,
  world: World,
  options: {
    readonly watch: LedgerWatch
    readonly isProcessDead: () => boolean
    readonly isCutOff?: () => boolean
    /** It has a clock of its own, which is right. */
    readonly hasTime?: boolean
  },
): FleetStore {
  const { hasTime = false, isCutOff = () => false, isProcessDead, watch } = options
  const reach = async <T>(work: () => Promise<T>): Promise<T> => {
    await world.clock.sleep(world.random.between(1, 40))
    const isDown = world.clock.now() < world.storeDownUntil || isCutOff()
    if (isDown || world.strikes('store')) throw unavailable()
    const result = await work()
    if (world.strikes('storeLostReply')) throw unavailable()
    return isProcessDead() ? new Promise(() => undefined) : result
  }
  return {
    create: (record, limit) =>
      reach(async () => {
        const stored = await store.create(record, limit)
        watch.onCreated(stored)
        return stored
      }),
    update: (next, fence) =>
      reach(async () => {
        const before = await store.get(next.id)
        await store.update(next, fence)
        if (before !== undefined) watch.onUpdated(before, next, fence?.fence)
      }),
    get: (id) => reach(() => store.get(id)),
    list: (query) => reach(() => store.list(query)),
    due: (query) => reach(() => store.due(query)),
    counts: (environment) => reach(() => store.counts(environment)),
    firstCreatedAt: (environment) => reach(() => store.firstCreatedAt(environment)),
    prune: (query) => reach(() => store.prune(query)),
    addUsage: (usage, at) => reach(() => store.addUsage(usage, at)),
    usageSince: (since) => reach(() => store.usageSince(since)),
    acquireLease: (request) => reach(() => store.acquireLease(request)),
    releaseLease: (fence) => reach(() => store.releaseLease(fence)),
    ...(hasTime && { now: () => reach(async () => world.clock.now()) }),
    readState: (key) => reach(() => store.readState(key)),
    writeState: (key, value) => reach(() => store.writeState(key, value)),
  }
}
