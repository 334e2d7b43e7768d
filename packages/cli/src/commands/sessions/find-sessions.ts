import type {
  SessionPage,
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

const SCAN_PAGE = 200

/** Reads as many pages as it takes to fill one; damaged sessions pass every filter. */
export async function findSessions(
  store: SessionStateStore,
  filter: SessionFilter,
): Promise<FoundSessions> {
  const items: SessionState[] = []
  const unreadable: UnreadableSession[] = []
  let { cursor } = filter
  do {
    const { page, matches } = await nextMatches(store, filter, filter.limit - items.length, cursor)
    items.push(...matches)
    unreadable.push(...(page.unreadable ?? []))
    cursor = page.nextCursor
  } while (cursor !== undefined && items.length < filter.limit)
  return { items, unreadable, ...(cursor !== undefined && { nextCursor: cursor }) }
}

/** A page with no more matches than wanted, so that its cursor skips none. */
async function nextMatches(
  store: SessionStateStore,
  filter: SessionFilter,
  wanted: number,
  cursor: string | undefined,
): Promise<{ readonly page: SessionPage; readonly matches: readonly SessionState[] }> {
  const { agent, status } = filter
  const isMatch = (one: SessionState): boolean => status === undefined || one.status === status
  const read = async (limit: number) => {
    const page = await store.listSessions({
      limit,
      ...(agent !== undefined && { agentType: agent }),
      ...(cursor !== undefined && { cursor }),
    })
    return { page, matches: page.items.filter(isMatch) }
  }
  if (status === undefined) return read(Math.min(wanted, SCAN_PAGE))
  const scanned = await read(SCAN_PAGE)
  const last = scanned.matches[wanted - 1]
  if (last === undefined || scanned.matches.length === wanted) return scanned
  return read(scanned.page.items.indexOf(last) + 1)
}
