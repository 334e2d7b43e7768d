import { WorkspaceEvictedError } from '../errors/workspace-evicted-error.ts'
import { WorkspaceFailedError } from '../errors/workspace-failed-error.ts'
import { logMessages } from '../logging/log-messages.ts'
import { withDeadline } from '../time/deadline.ts'
import { parseProviderConfig, unknownKind } from '../workspace/assert-providers-support.ts'
import type { OpenedWorkspace, WorkspaceProvider } from '../workspace/provider.ts'
import type { WorkspaceRef } from '../workspace/ref.ts'
import { releaseBackend } from './release-backend.ts'
import type { RegistryContext } from './registry-context.ts'
import type { RegistryEntry } from './registry-entry.ts'
import { retryTransient } from './transient-retry.ts'

/** A backend that a provider handed over, not yet checked. */
export interface OpenedBackend extends OpenedWorkspace {
  /** Nobody else knows of it: it was made just now, so it must be closed when it is not used. */
  readonly isFresh: boolean
  /** What earlier messages say of its files is true of those of the source. Default false. */
  readonly isOfBranch?: boolean
}

/** Resolves the stored ref, or opens a new backend; retries what may pass by itself. */
export async function openBackend(
  entry: RegistryEntry,
  context: RegistryContext,
): Promise<OpenedBackend> {
  const { signal } = context.lifetime
  const usedBefore = entry.ref === undefined && context.usedBefore(entry.name)
  let isGone = false
  const attempt = async (): Promise<OpenedBackend> => {
    const { ref } = entry
    if (ref === undefined || isGone) return openFresh(entry, context)
    try {
      return await resolveRef(entry, { ref, signal }, context)
    } catch (error) {
      if (!isLost(error) || entry.declaration.onLost === 'fail') throw error
      // Found once: a retry of the fresh open does not look for it again.
      isGone = true
      const fields = { ...entry.labels, sessionId: context.session.sessionId, err: error }
      context.logger.warn(fields, logMessages.workspaceLost)
      return openFresh(entry, context)
    }
  }
  const backend = await retryTransient(() => context.openLimit(attempt, signal), {
    attempts: context.transientRetryAttempts,
    clock: context.clock,
    random: context.random,
    signal,
    onRetry: (error) => {
      entry.retries++
      entry.lastError = error
      context.metrics.incTransientRetry(entry.labels)
    },
  })
  if (isGone || usedBefore === true) return asCold(backend)
  return usedBefore === 'in-source' ? { ...asCold(backend), isOfBranch: true } : backend
}

export interface ResolveRequest {
  readonly ref: WorkspaceRef
  readonly signal: AbortSignal
}

/** One resolve, without retry. The result of one that overran its time is released later. */
export function resolveRef(
  entry: RegistryEntry,
  request: ResolveRequest,
  context: RegistryContext,
): Promise<OpenedBackend> {
  const provider = providerOf(entry, context)
  return runAttempt(entry, context, request.signal, async (signal) => {
    const config = entry.declaration.provider
    const options = { ...openOptions(entry, context), session: context.session, config, signal }
    return { ...(await provider.resolve(request.ref, options)), isFresh: false }
  })
}

export function isLost(error: unknown): boolean {
  return WorkspaceEvictedError.isInstance(error) && error.code === 'lost'
}

function openFresh(entry: RegistryEntry, context: RegistryContext): Promise<OpenedBackend> {
  const provider = providerOf(entry, context)
  const config = parseProviderConfig(entry.declaration, provider)
  return runAttempt(entry, context, context.lifetime.signal, async (signal) => {
    const options = { ...openOptions(entry, context), signal }
    const opened = await provider.open(config, context.session, options)
    const isFresh = opened.receipt.outcome === 'created' || opened.receipt.outcome === 'cold'
    return { ...opened, isFresh }
  })
}

function openOptions(entry: RegistryEntry, context: RegistryContext) {
  return {
    workspace: entry.name,
    capabilities: entry.declaration.capabilities,
    logger: context.logger,
    clock: context.clock,
  }
}

/** Earlier files existed, so a backend made anew is not simply `created`. */
function asCold(backend: OpenedBackend): OpenedBackend {
  if (backend.receipt.outcome !== 'created') return backend
  return { ...backend, receipt: { ...backend.receipt, outcome: 'cold' } }
}

function providerOf(entry: RegistryEntry, context: RegistryContext): WorkspaceProvider {
  if (entry.refProblem !== undefined) throw entry.refProblem
  if (entry.provider === undefined) {
    throw unknownKind(entry.name, entry.labels.providerId, context.registeredKinds)
  }
  return entry.provider
}

async function runAttempt(
  entry: RegistryEntry,
  context: RegistryContext,
  signal: AbortSignal,
  attempt: (signal: AbortSignal) => Promise<OpenedBackend>,
): Promise<OpenedBackend> {
  if (context.openTimeoutMs === undefined) return attempt(signal)
  const overrun = new AbortController()
  const pending = attempt(AbortSignal.any([signal, overrun.signal]))
  const error = new WorkspaceFailedError(
    'open-timeout',
    `workspace "${entry.name}" did not open within ${context.openTimeoutMs} ms`,
    { transient: true, hint: 'Try again later.' },
  )
  const onTimeout = (): WorkspaceFailedError => {
    overrun.abort(error)
    void pending.then(
      (backend) => releaseBackend(entry, backend, context),
      // It ended as it was told to.
      () => undefined,
    )
    return error
  }
  return withDeadline(pending, {
    clock: context.clock,
    timeoutMs: context.openTimeoutMs,
    onTimeout,
  })
}
