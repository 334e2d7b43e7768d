import type { SessionRequest } from '@helix-agents/core/runtime'
import type { RunServices } from '../ports.ts'

/**
 * The requests of a root session that have no answer and have not expired, oldest first.
 * @param now With an earlier time those that have expired since are among them.
 */
export async function loadOpenRequests(
  { stateStore, clock }: Pick<RunServices, 'stateStore' | 'clock'>,
  sessionId: string,
  now = clock.now(),
): Promise<readonly SessionRequest[]> {
  const found: SessionRequest[] = []
  let cursor: string | undefined
  do {
    const page = await stateStore.listRequests({
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
