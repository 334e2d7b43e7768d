import { WorkspaceEvictedError } from '@helix-agents/core'
import {
  logMessages,
  type ProviderHistory,
  type ResolveOptions,
  type SessionRef,
  type SnapshotRef,
  type WorkspaceProvider,
  type WorkspaceRef,
} from '@helix-agents/core/provider'
import type { WorkspaceDeclaration } from '@helix-agents/core/runtime'
import type { RunServices } from '../ports.ts'

type Services = Pick<RunServices, 'providers' | 'logger' | 'clock'>

/** Frees a snapshot. Never rejects: a later collection finds what is left. @returns whether it is gone */
export async function removeSnapshot(services: Services, snapshot: SnapshotRef): Promise<boolean> {
  const history = historyOf(services, snapshot.providerId)
  if (history === undefined) return false
  try {
    await history.remove(snapshot)
    return true
  } catch (err) {
    const { providerId } = snapshot
    services.logger.warn({ err, providerId }, logMessages.historyNotReleased)
    return false
  }
}

export function historyOf(
  { providers }: Pick<RunServices, 'providers'>,
  providerId: string,
): ProviderHistory | undefined {
  return providers.get(providerId)?.history
}

/** A name for the backend of a ref: equal for all refs of one, different for those of two. */
export function identityOf(
  { providers }: Pick<RunServices, 'providers'>,
  ref: WorkspaceRef,
): string {
  const provider = providers.get(ref.providerId)
  const identity = provider?.identify?.(ref) ?? canonicalJson(ref.ref)
  return JSON.stringify([ref.providerId, identity])
}

/** JSON in which the order of keys makes no difference: stores may change it. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, one: unknown) => {
    if (typeof one !== 'object' || one === null || Array.isArray(one)) return one
    return Object.fromEntries(Object.entries(one).toSorted(([a], [b]) => (a < b ? -1 : 1)))
  })
}

/** Whose backend it is. */
export interface BackendOwner {
  readonly session: SessionRef
  readonly declaration: WorkspaceDeclaration
  /** The name under which it was made, beside the workspace. Default: that of the declaration. */
  readonly workspace?: string
}

/** What a provider gets to open a backend without a registry. */
export function resolveOptions(services: Services, owner: BackendOwner): ResolveOptions {
  const { declaration, workspace = declaration.name } = owner
  // A session may come whole: its state and its output are for no provider, and for no log.
  const { sessionId, agentType } = owner.session
  return {
    workspace,
    ...(workspace !== declaration.name && { resolvedAs: declaration.name }),
    session: { sessionId, agentType },
    config: declaration.provider,
    capabilities: declaration.capabilities,
    signal: new AbortController().signal,
    logger: services.logger,
    clock: services.clock,
  }
}

/**
 * Frees one backend. Never rejects: what cannot be freed is logged. @returns whether it is gone
 */
export async function releaseBackend(
  services: Services,
  ref: WorkspaceRef,
  owner: BackendOwner,
): Promise<boolean> {
  const provider = services.providers.get(ref.providerId)
  const options = resolveOptions(services, owner)
  const workspace = owner.declaration.name
  const fields = { workspace, providerId: ref.providerId, ...options.session }
  if (provider === undefined) {
    services.logger.warn(fields, logMessages.historyNotReleased)
    return false
  }
  try {
    await release(provider, ref, options)
    return true
  } catch (err) {
    services.logger.warn({ ...fields, err }, logMessages.historyNotReleased)
    return false
  }
}

async function release(
  provider: WorkspaceProvider,
  ref: WorkspaceRef,
  options: ResolveOptions,
): Promise<void> {
  if (provider.release !== undefined) return provider.release(ref, options)
  try {
    const { ws } = await provider.resolve(ref, options)
    await ws.close()
  } catch (error) {
    if (!isGone(error)) throw error
  }
}

function isGone(error: unknown): boolean {
  return WorkspaceEvictedError.isInstance(error) && error.code === 'lost'
}
