import { WorkspaceFailedError, type WorkspaceProvider } from '@helix-agents/core'
import type { WorkspaceProviders } from './executor-options.ts'

/**
 * Providers by kind. Both ways to name them are checked, so that a provider is not found under a
 * kind that its refs do not carry.
 * @throws {WorkspaceFailedError} `config-invalid` for a key that is not the provider's id, or for
 * two providers of one kind.
 */
export function toProviderMap(
  given: WorkspaceProviders | readonly WorkspaceProvider[] = [],
): WorkspaceProviders {
  const providers = new Map<string, WorkspaceProvider>()
  for (const [kind, provider] of isList(given) ? given.map(byId) : given) {
    if (kind !== provider.providerId) {
      throw invalid(`"${provider.providerId}" is registered as "${kind}"`)
    }
    if (providers.has(kind)) throw invalid(`two are registered as "${kind}"`)
    providers.set(kind, provider)
  }
  return providers
}

function byId(provider: WorkspaceProvider): readonly [string, WorkspaceProvider] {
  return [provider.providerId, provider]
}

function isList(
  given: WorkspaceProviders | readonly WorkspaceProvider[],
): given is readonly WorkspaceProvider[] {
  return Array.isArray(given)
}

function invalid(detail: string): WorkspaceFailedError {
  return new WorkspaceFailedError('config-invalid', `workspace providers: ${detail}`)
}
