import type {
  SessionPage,
  SessionState,
  SessionStateStore,
  SessionStatus,
  UnreadableSession,
} from '@helix-agents/core/runtime'
import { owedWorkspaces } from './session-facts.ts'
import {
  type WORKSPACE_FAILURES,
  type WorkspaceFailure,
  workspaceFailures,
} from './workspace-failures.ts'

/** Which sessions, and how many. */
export interface SessionFilter {
  readonly agent?: string
  readonly status?: SessionStatus
  readonly limit: number
  readonly cursor?: string
  /** Only those with a workspace that failed last. */
  readonly workspaceError?: (typeof WORKSPACE_FAILURES)[number] | 'any'
  /** Only those with a workspace whose stored ref has this schema version. */
  readonly refVersion?: number
  /** Only those with a workspace that could not be closed. */
  readonly owed?: boolean
  /** Sessions that are looked at, where the store itself cannot filter. */
  readonly scan: number
}

/** A session that was found. */
export interface FoundSession {
  readonly session: SessionState
  /** When it was asked for. */
  readonly failures?: readonly WorkspaceFailure[]
}

/** Sessions that were found, newest first. */
export interface FoundSessions {
  readonly items: readonly FoundSession[]
  readonly unreadable: readonly UnreadableSession[]
  /** Continues after the last session; absent at the end. */
  readonly nextCursor?: string
  /** Sessions that were looked at, when it ended for their number. */
  readonly stoppedAfter?: number
}

/** What a store gives at once. */
const MAX_PAGE = 200

/** Reads as many pages as needed, and examines at most so many sessions. */
export async function findSessions(
  store: SessionStateStore,
  filter: SessionFilter,
): Promise<FoundSessions> {
  const { limit } = filter
  const maxExamined = isScan(filter) ? filter.scan : Infinity
  const items: FoundSession[] = []
  const unreadable: UnreadableSession[] = []
  let { cursor } = filter
  let examined = 0
  do {
    // Never more than are wanted: the cursor is behind the last session of a page.
    const wanted = Math.min(limit - items.length, maxExamined - examined, MAX_PAGE)
    const page = await readPage(store, filter, { limit: wanted, cursor })
    const { unreadable: damaged = [] } = page
    for (const session of page.items) items.push(...(await match(store, session, filter)))
    examined += page.items.length + damaged.length
    unreadable.push(...damaged)
    cursor = page.nextCursor
  } while (cursor !== undefined && items.length < limit && examined < maxExamined)
  if (cursor === undefined) return { items, unreadable }
  const isCut = items.length < limit
  return { items, unreadable, nextCursor: cursor, ...(isCut && { stoppedAfter: examined }) }
}

function readPage(
  store: SessionStateStore,
  { agent, status }: SessionFilter,
  { cursor, limit }: { readonly cursor: string | undefined; readonly limit: number },
): Promise<SessionPage> {
  return store.listSessions({
    limit,
    ...(agent !== undefined && { agentType: agent }),
    ...(status !== undefined && { status }),
    ...(cursor !== undefined && { cursor }),
  })
}

/** Whether the store has no such filter, so that sessions are examined one by one. */
function isScan({ owed, refVersion, workspaceError }: SessionFilter): boolean {
  return owed === true || refVersion !== undefined || workspaceError !== undefined
}

async function match(
  store: SessionStateStore,
  session: SessionState,
  { owed, refVersion, workspaceError }: SessionFilter,
): Promise<readonly FoundSession[]> {
  if (owed === true && owedWorkspaces(session).length === 0) return []
  if (refVersion !== undefined && !hasRef(session, refVersion)) return []
  if (workspaceError === undefined) return [{ session }]
  const all = await workspaceFailures(store, session)
  const failures =
    workspaceError === 'any' ? all : all.filter(({ code }) => code === workspaceError)
  return failures.length === 0 ? [] : [{ session, failures }]
}

function hasRef({ workspaceRefs }: SessionState, version: number): boolean {
  return Object.values(workspaceRefs).some(({ schemaVersion }) => schemaVersion === version)
}
