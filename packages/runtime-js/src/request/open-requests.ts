import type { SessionInteractionStore, SessionRequest } from '@helix-agents/core/runtime'
import type { RunServices } from '../ports.ts'

/**
 * The requests of a root session that nobody has answered and that have not expired, oldest first.
 * @param now With an earlier time those that have expired since are among them.
 */
export async function loadOpenRequests(
  { interactions, clock }: Pick<RunServices, 'interactions' | 'clock'>,
  sessionId: string,
  now = clock.now(),
): Promise<readonly SessionRequest[]> {
  if (interactions === undefined) return []
  const found: SessionRequest[] = []
  let cursor: string | undefined
  do {
    const page = await interactions.listRequests({
      sessionId,
      state: 'open',
      now,
      ...(cursor !== undefined && { cursor }),
    })
    found.push(...page.items)
    cursor = page.nextCursor
  } while (cursor !== undefined)
  return found
}

/** The requests, messages and stops of a store; `undefined` for a store that keeps none. */
export function interactionsOf(
  store: Partial<SessionInteractionStore>,
): SessionInteractionStore | undefined {
  return isInteractionStore(store) ? store : undefined
}

function isInteractionStore(
  store: Partial<SessionInteractionStore>,
): store is SessionInteractionStore {
  return 'addRequests' in store
}
