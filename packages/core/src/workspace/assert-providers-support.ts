import type { WorkspaceDeclaration } from './declaration.ts'
import { WorkspaceFailedError } from '../errors/workspace-failed-error.ts'
import { assertCapabilities } from './capability-invariant.ts'
import type { WorkspaceProvider } from './provider.ts'

/**
 * Checks declarations against the registered providers before any backend is made.
 * @throws {WorkspaceFailedError} `config-invalid` for a kind without provider or a wrong
 * provider config; `capability-missing` for a capability the provider does not have.
 */
export function assertProvidersSupport(
  declarations: Readonly<Record<string, WorkspaceDeclaration>>,
  providers: ReadonlyMap<string, WorkspaceProvider>,
): void {
  for (const [name, declaration] of Object.entries(declarations)) {
    const provider = findProvider(name, declaration.provider.kind, providers)
    const config = parseProviderConfig(declaration, provider)
    assertCapabilities({
      workspace: name,
      providerId: provider.providerId,
      declared: declaration.capabilities,
      offered: provider.capabilities,
    })
    if (declaration.history !== undefined) assertHistory(name, provider, config)
  }
}

type HistoryProvider = Pick<WorkspaceProvider, 'providerId' | 'capabilities' | 'noHistory'>

/** @throws {WorkspaceFailedError} `capability-missing` */
export function assertHistory(
  name: string,
  provider: HistoryProvider,
  config: { readonly kind: string },
): void {
  const { providerId, capabilities } = provider
  const noHistory = provider.noHistory?.(config)
  if (noHistory !== undefined) {
    throw new WorkspaceFailedError(
      'capability-missing',
      `workspace "${name}" declares a history, but its provider ${providerId} keeps none: ${noHistory}`,
      { hint: 'An operator must remove the history, or declare another provider.' },
    )
  }
  if (capabilities.snapshot === true) return
  throw new WorkspaceFailedError(
    'capability-missing',
    `workspace "${name}" declares a history, but its provider ${providerId} takes no snapshots`,
    { hint: 'An operator must remove the history or configure snapshots of the provider.' },
  )
}

/**
 * The config of a declaration as its provider understands it.
 * @throws {WorkspaceFailedError} `config-invalid`
 */
export function parseProviderConfig(
  declaration: WorkspaceDeclaration,
  provider: WorkspaceProvider,
): { kind: string } {
  if (provider.parseConfig === undefined) return declaration.provider
  try {
    return provider.parseConfig(declaration.provider)
  } catch (cause) {
    if (WorkspaceFailedError.isInstance(cause)) throw cause
    throw new WorkspaceFailedError(
      'config-invalid',
      `the provider options of workspace "${declaration.name}" are not valid`,
      { cause },
    )
  }
}

function findProvider(
  name: string,
  kind: string,
  providers: ReadonlyMap<string, WorkspaceProvider>,
): WorkspaceProvider {
  const provider = providers.get(kind)
  if (provider === undefined) throw unknownKind(name, kind, [...providers.keys()])
  if (provider.providerId === kind) return provider
  throw new WorkspaceFailedError(
    'config-invalid',
    `the provider registered as "${kind}" calls itself "${provider.providerId}"`,
  )
}

/** The error of a declaration whose provider is not registered. */
export function unknownKind(
  name: string,
  kind: string,
  registered: readonly string[],
): WorkspaceFailedError {
  return new WorkspaceFailedError(
    'config-invalid',
    `workspace "${name}" wants provider "${kind}"; registered in workspaceProviders: ${registered.toSorted().join(', ') || 'none'}`,
  )
}
