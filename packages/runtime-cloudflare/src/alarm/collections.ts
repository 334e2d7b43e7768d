import type { AlarmSource } from './alarm-scheduler.ts'

/**
 * A workspace provider that removes in the background what is no longer needed. Providers for
 * Durable Objects have both methods; others have neither.
 */
export interface CollectingProvider {
  readonly providerId: string
  /** When there will be something to remove, in milliseconds since the epoch. */
  nextCollectionAt(): number | undefined | Promise<number | undefined>
  /** Removes what is due. */
  collect(now: number): unknown
  /**
   * Takes everything it keeps in the object out of use, that of shared names as well: the object
   * is about to be emptied, and what is due then is the last that anybody knows of.
   */
  deleteNamespaces?(): unknown
}

/** The background work of one provider. */
export interface Collection extends AlarmSource {
  readonly dropAll: () => Promise<void>
}

/** A source for each of the providers that collect. */
export function collectionsOf(providers: Iterable<unknown>): readonly Collection[] {
  return [...providers].filter(isCollecting).map((provider) => ({
    name: `collection of ${provider.providerId}`,
    nextAt: () => provider.nextCollectionAt(),
    run: async (now) => void (await provider.collect(now)),
    dropAll: async () => void (await provider.deleteNamespaces?.()),
  }))
}

function isCollecting(provider: unknown): provider is CollectingProvider {
  return (
    typeof provider === 'object' &&
    provider !== null &&
    'collect' in provider &&
    typeof provider.collect === 'function' &&
    'nextCollectionAt' in provider &&
    typeof provider.nextCollectionAt === 'function'
  )
}
