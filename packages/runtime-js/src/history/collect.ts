import type { Agent } from '@helix-agents/core'
import { type HeldBySession, logMessages, type WorkspaceRef } from '@helix-agents/core/provider'
import type {
  BranchIntent,
  Released,
  SessionHistory,
  SessionState,
} from '@helix-agents/core/runtime'
import { observeHistory } from '../observe/history.ts'
import type { RunServices } from '../ports.ts'
import { declarationOf } from '../session/end-refs.ts'
import {
  canonicalJson,
  historyOf,
  identityOf,
  releaseBackend,
  removeSnapshot,
} from './provider-history.ts'

/** How long a branch or a restore may be under way before what it made counts as left behind. */
export const GRACE_MS = 600_000

/** What a collection found of one session. */
export interface CollectReport {
  /** Backends that were freed. */
  readonly workspaces: number
  /** Snapshots that were freed. */
  readonly snapshots: number
  /** Backends and snapshots that should be gone and could not be freed. */
  readonly owed: number
}

interface Collection {
  readonly services: RunServices
  readonly agent: Agent | undefined
  readonly session: Pick<SessionState, 'sessionId' | 'agentType'>
  readonly report: { workspaces: number; snapshots: number; owed: number }
  /** Backends that the session, or a checkpoint of it, needs. */
  readonly needed: ReadonlySet<string>
  /** Branches that may be under way. */
  readonly begun: ReadonlySet<string>
}

interface CollectOptions {
  readonly session: Collection['session']
  /** Default: 600 000 ms. */
  readonly graceMs?: number
}

/**
 * Frees what a session has let go and no checkpoint of it needs, and what a process that died has left.
 * The caller holds the session. Never rejects for a provider: what cannot be freed is owed.
 */
export function collect(
  services: RunServices,
  agent: Agent | undefined,
  given: CollectOptions,
): Promise<CollectReport> {
  const { sessionId } = given.session
  const work = (): Promise<CollectReport> => collectSession(services, agent, given)
  return observeHistory(services, 'collect', { sessionId }, work)
}

async function collectSession(
  services: RunServices,
  agent: Agent | undefined,
  given: CollectOptions,
): Promise<CollectReport> {
  const { session, graceMs = GRACE_MS } = given
  const history = await services.stateStore.loadHistory(session.sessionId)
  const report = { workspaces: 0, snapshots: 0, owed: 0 }
  const needed = new Set(history.refs.map((ref) => identityOf(services, ref)))
  const begun = begunOf(history, services.clock.now() - graceMs)
  const collection: Collection = { services, agent, session, report, needed, begun }
  const promised = new Set([...promisedBy(history), ...(await namedBy(services, session, history))])
  const isWhole = await collectHeld(collection, session.sessionId, promised)
  const gone: number[] = []
  for (const released of history.released) {
    const isOwn = 'branchId' in released && released.branchId === session.sessionId
    // The caller holds the session: no restore of it is under way.
    if (isOwn ? isWhole : await collectReleased(collection, released)) gone.push(released.id)
  }
  if (gone.length > 0) await services.stateStore.forgetReleased(session.sessionId, gone)
  return report
}

/**
 * What a provider holds for the session that neither it nor a checkpoint of it knows.
 * @returns whether all of it is gone
 */
async function collectHeld(
  collection: Collection,
  sessionId: string,
  promised: ReadonlySet<string>,
): Promise<boolean> {
  const { services, session, report } = collection
  const ofOwner = { ...collection, session: { ...session, sessionId } }
  const before = report.owed
  let isListed = true
  for (const { history, providerId } of services.providers.values()) {
    if (history === undefined) continue
    const held = await tryList(services, providerId, () => history.list(sessionId))
    isListed &&= held !== undefined
    if (held !== undefined) await freeUnneeded(ofOwner, held, promised)
  }
  return isListed && report.owed === before
}

async function freeUnneeded(
  collection: Collection,
  held: HeldBySession,
  promised: ReadonlySet<string>,
): Promise<void> {
  const { services, report, needed } = collection
  for (const snapshot of held.snapshots) {
    if (promised.has(canonicalJson(snapshot))) continue
    if (await removeSnapshot(services, snapshot)) report.snapshots += 1
    else report.owed += 1
  }
  for (const ref of held.workspaces) {
    if (!needed.has(identityOf(services, ref))) await free(collection, '', ref)
  }
}

/** @returns `undefined` when the provider does not say. */
async function tryList(
  { logger }: RunServices,
  providerId: string,
  list: () => Promise<HeldBySession>,
): Promise<HeldBySession | undefined> {
  try {
    return await list()
  } catch (err) {
    logger.warn({ err, providerId }, logMessages.historyNotListed)
    return undefined
  }
}

/** An attempt that has just begun may be that of a branch that an earlier one had not made. */
function begunOf({ released }: SessionHistory, after: number): ReadonlySet<string> {
  return new Set(
    released.flatMap((one) => ('branchId' in one && one.releasedAt > after ? [one.branchId] : [])),
  )
}

/** @returns whether it is gone */
async function collectReleased(collection: Collection, released: Released): Promise<boolean> {
  const { services, needed, begun } = collection
  if ('branchId' in released) {
    if (begun.has(released.branchId)) return false
    const branch = await services.stateStore.loadSession(released.branchId)
    return branch === null
      ? collectUnmade(collection, released)
      : collectUnused(collection, released)
  }
  if (needed.has(identityOf(services, released.ref))) return false
  return free(collection, released.workspace, released.ref)
}

/** What there is for a branch that did not come to be. @returns whether all of it is gone */
async function collectUnmade(
  collection: Collection,
  { branchId, made }: BranchIntent,
): Promise<boolean> {
  const session = { ...collection.session, sessionId: branchId }
  const ofBranch = { ...collection, session, needed: new Set<string>() }
  const isWhole = await collectHeld(ofBranch, branchId, new Set())
  if (made === undefined) return isWhole
  return (await free(ofBranch, made.workspace, made.ref)) && isWhole
}

/** What an attempt had made for a branch that another attempt has made. @returns whether it is gone */
async function collectUnused(
  collection: Collection,
  { branchId, made }: BranchIntent,
): Promise<boolean> {
  if (made === undefined) return true
  const { services } = collection
  const { refs } = await services.stateStore.loadHistory(branchId)
  const needed = new Set(refs.map((ref) => identityOf(services, ref)))
  if (needed.has(identityOf(services, made.ref))) return true
  const session = { ...collection.session, sessionId: branchId }
  return free({ ...collection, session }, made.workspace, made.ref)
}

async function free(
  { services, agent, session, report }: Collection,
  workspace: string,
  ref: WorkspaceRef,
): Promise<boolean> {
  const declaration = declarationOf(agent, workspace, ref)
  const isGone = await releaseBackend(services, ref, { session, declaration })
  if (isGone) report.workspaces += 1
  else report.owed += 1
  return isGone
}

function promisedBy({ snapshots }: SessionHistory): ReadonlySet<string> {
  return new Set(
    snapshots.flatMap(({ files }) =>
      files.snapshot === undefined ? [] : [canonicalJson(files.snapshot)],
    ),
  )
}

/** Snapshots from which a backend of the session comes back when it is lost. */
async function namedBy(
  services: RunServices,
  { sessionId }: Collection['session'],
  { refs }: SessionHistory,
): Promise<readonly string[]> {
  const named = refs.map(async (ref) =>
    historyOf(services, ref.providerId)?.neededBy?.(ref, sessionId),
  )
  return (await Promise.all(named)).flatMap((one) =>
    one === undefined ? [] : [canonicalJson(one)],
  )
}

/** What is stored may be all that is known: not every provider can list what it holds. */
async function removeStored(
  { services, report }: Collection,
  snapshots: SessionHistory['snapshots'],
): Promise<void> {
  for (const { files } of snapshots) {
    if (files.snapshot === undefined) continue
    if (await removeSnapshot(services, files.snapshot)) report.snapshots += 1
    else report.owed += 1
  }
}

/** Frees everything that providers hold for a session that is about to be removed. @returns names of what is left */
export async function releaseEverything(
  services: RunServices,
  agent: Agent | undefined,
  session: Collection['session'],
): Promise<readonly string[]> {
  const { sessionId } = session
  const { released, snapshots } = await services.stateStore.loadHistory(sessionId)
  const report = { workspaces: 0, snapshots: 0, owed: 0 }
  const none: ReadonlySet<string> = new Set()
  const collection = { services, agent, session, report, needed: none, begun: none }
  const owed: string[] = []
  for (const one of released) {
    const isGone = await collectReleased(collection, one)
    if (!isGone) owed.push('workspace' in one ? one.workspace : 'history')
  }
  const before = report.owed
  await removeStored(collection, snapshots)
  const isWhole = await collectHeld(collection, sessionId, new Set())
  return report.owed > before || !isWhole ? [...owed, 'history'] : owed
}
