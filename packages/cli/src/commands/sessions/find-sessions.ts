import type {
  SessionState,
  SessionStateStore,
  SessionStatus,
  UnreadableSession,
} from '@helix-agents/core'

/** Which sessions, and how many. */
export interface SessionFilter {
  readonly agent?: string
  readonly status?: SessionStatus
  readonly limit: number
  readonly cursor?: string
}

/** Sessions that were found, newest first. */
export interface FoundSessions {
  readonly items: readonly SessionState[]
  readonly unreadable: readonly UnreadableSession[]
  /** Goes on behind the last session; absent when there is none. */
  readonly nextCursor?: string
}

/** What a store gives at once. */
const MAX_PAGE = 200

/** Reads as many pages as it takes. */
export async function findSessions(
  store: SessionStateStore,
  { agent, status, limit, cursor: first }: SessionFilter,
): Promise<FoundSessions> {
  const items: SessionState[] = []
  const unreadable: UnreadableSession[] = []
  let cursor = first
  do {
    const page = await store.listSessions({
      limit: Math.min(limit - items.length, MAX_PAGE),
      ...(agent !== undefined && { agentType: agent }),
      ...(status !== undefined && { status }),
      ...(cursor !== undefined && { cursor }),
    })
    items.push(...page.items)
    unreadable.push(...(page.unreadable ?? []))
    cursor = page.nextCursor
  } while (cursor !== undefined && items.length < limit)
  return { items, unreadable, ...(cursor !== undefined && { nextCursor: cursor }) }
}
