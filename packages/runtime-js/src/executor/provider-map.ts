import { WorkspaceFailedError } from '@helix-agents/core'
import type { WorkspaceProvider } from '@helix-agents/core/provider'
import type { WorkspaceProviders } from '../ports.ts'

/**
 * Providers by kind. Both ways to name them are checked, so that a provider is not found under a
 * kind that its refs do not carry.
 * @throws {WorkspaceFailedError} `config-invalid` for a key that is not the provider's id, for two
 * providers of one kind, and for what is neither a list nor a map of providers.
 */
export function toProviderMap(
  given: WorkspaceProviders | readonly WorkspaceProvider[] = [],
): WorkspaceProviders {
  assertIterable(given)
  const providers = new Map<string, WorkspaceProvider>()
  for (const [kind, provider] of isList(given) ? given.map(byId) : given) {
    assertProvider(provider, kind)
    if (kind !== provider.providerId) {
      throw invalid(`"${provider.providerId}" is registered as "${kind}"`)
    }
    if (providers.has(kind)) throw invalid(`two are registered as "${kind}"`)
    providers.set(kind, provider)
  }
  return providers
}

function byId(
  provider: WorkspaceProvider,
  index: number,
): readonly [kind: string, WorkspaceProvider] {
  assertProvider(provider, String(index))
  return [provider.providerId, provider]
}

/** A plain object gets a sentence, not "is not iterable". */
function assertIterable(given: unknown): void {
  if (typeof given === 'object' && given !== null && Symbol.iterator in given) return
  throw invalid(
    'give a list such as [new InMemoryWorkspaceProvider()], or a Map from the kind to its provider',
  )
}

function assertProvider(provider: unknown, place: string): void {
  if (typeof provider === 'function') {
    throw invalid(`${place} is a class or a function: give an object that \`new\` has made`)
  }
  const isObject = typeof provider === 'object' && provider !== null
  if (isObject && 'providerId' in provider && 'open' in provider) return
  throw invalid(`${place} is no provider: it has no providerId and no open`)
}

function isList(
  given: WorkspaceProviders | readonly WorkspaceProvider[],
): given is readonly WorkspaceProvider[] {
  return Array.isArray(given)
}

function invalid(detail: string): WorkspaceFailedError {
  return new WorkspaceFailedError('config-invalid', `workspace providers: ${detail}`)
}
