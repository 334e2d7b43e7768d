import type { WorkspaceDescription } from './describe.ts'

/** When a state counts as trouble. Times are milliseconds. */
export interface HealthThresholds {
  /** A workspace that is `failed` for longer. Default 300 000, five minutes. */
  readonly failedMs?: number
  /** Attempts that continue for longer without one success. Default 120 000, two minutes. */
  readonly unsuccessfulMs?: number
  /** A workspace that is `evicted` for longer. Default 600 000, ten minutes. */
  readonly evictedMs?: number
  /** So many different error codes of one provider at once, in several sessions. Default 3. */
  readonly distinctErrorCodes?: number
}

/** What `describe()` returned for one session. */
export interface SessionWorkspaceHealth {
  readonly sessionId: string
  readonly workspaces: readonly WorkspaceDescription[]
}

interface WorkspaceSignal {
  /**
   * `failed`: it will not recover by itself; the error is permanent. `unsuccessful`: it is used
   * and never succeeds. `evicted`: its backend is gone and nothing brings it back.
   */
  readonly kind: 'failed' | 'unsuccessful' | 'evicted'
  readonly sessionId: string
  readonly workspace: string
  readonly providerId: string
  /** For how long, in milliseconds. */
  readonly forMs: number
  readonly lastErrorCode?: string
}

/** Many sessions fail in many ways: trouble of the provider itself, such as an outage or a quota. */
interface ProviderSignal {
  readonly kind: 'many-error-codes'
  readonly providerId: string
  /** Sorted. */
  readonly errorCodes: readonly string[]
  readonly sessionIds: readonly string[]
}

/** Something an operator should look at. */
export type HealthSignal = WorkspaceSignal | ProviderSignal

const DEFAULTS: Required<HealthThresholds> = {
  failedMs: 300_000,
  unsuccessfulMs: 120_000,
  evictedMs: 600_000,
  distinctErrorCodes: 3,
}

/**
 * What is wrong with the workspaces of one or many sessions, for a health endpoint or an alert.
 * Pure: `now` is in milliseconds since the epoch, on the clock of the registries.
 */
export function healthSignals(
  sessions: readonly SessionWorkspaceHealth[],
  now: number,
  thresholds: HealthThresholds = {},
): readonly HealthSignal[] {
  const limits = { ...DEFAULTS, ...thresholds }
  const signals = sessions.flatMap(({ sessionId, workspaces }) =>
    workspaces.flatMap((workspace) =>
      agesOf(workspace, now, limits).map((age) => toSignal(sessionId, workspace, age)),
    ),
  )
  return [...signals, ...providerSignals(sessions, limits.distinctErrorCodes)]
}

interface Age {
  readonly kind: WorkspaceSignal['kind']
  readonly forMs: number
}

function agesOf(
  workspace: WorkspaceDescription,
  now: number,
  limits: Required<HealthThresholds>,
): readonly Age[] {
  const { state, stateSince } = workspace
  const forMs = now - stateSince
  const unsuccessful: Age = { kind: 'unsuccessful', forMs: unsuccessfulMs(workspace) }
  return [
    ...(state === 'failed' && forMs > limits.failedMs ? [{ kind: 'failed', forMs } as const] : []),
    ...(unsuccessful.forMs > limits.unsuccessfulMs ? [unsuccessful] : []),
    ...(state === 'evicted' && forMs > limits.evictedMs
      ? [{ kind: 'evicted', forMs } as const]
      : []),
  ]
}

/** From the first attempt without success to the last: a single late failure is no trouble yet. */
function unsuccessfulMs(workspace: WorkspaceDescription): number {
  const { lastAttemptAt = 0, lastSuccessAt, unsuccessfulSince } = workspace
  return lastAttemptAt - (unsuccessfulSince ?? lastSuccessAt ?? lastAttemptAt)
}

function toSignal(
  sessionId: string,
  { name, providerId, lastErrorCode }: WorkspaceDescription,
  age: Age,
): WorkspaceSignal {
  const signal = { ...age, sessionId, workspace: name, providerId }
  return lastErrorCode === undefined ? signal : { ...signal, lastErrorCode }
}

function providerSignals(
  sessions: readonly SessionWorkspaceHealth[],
  distinctErrorCodes: number,
): readonly ProviderSignal[] {
  const troubles = sessions.flatMap(({ sessionId, workspaces }) =>
    workspaces.flatMap(({ providerId, lastErrorCode, ...workspace }) =>
      lastErrorCode === undefined || isWell(workspace)
        ? []
        : [{ providerId, errorCode: lastErrorCode, sessionId }],
    ),
  )
  const byProvider = Map.groupBy(troubles, ({ providerId }) => providerId)
  return [...byProvider].flatMap(([providerId, all]) => {
    const errorCodes = [...new Set(all.map(({ errorCode }) => errorCode))].toSorted()
    const sessionIds = [...new Set(all.map(({ sessionId }) => sessionId))]
    if (errorCodes.length < distinctErrorCodes || sessionIds.length < 2) return []
    return [{ kind: 'many-error-codes', providerId, errorCodes, sessionIds } as const]
  })
}

/** The error of a workspace that works again is history. */
function isWell(workspace: Pick<WorkspaceDescription, 'state' | 'unsuccessfulSince'>): boolean {
  return workspace.state === 'open' && workspace.unsuccessfulSince === undefined
}
