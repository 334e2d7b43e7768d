import type { Agent } from '@helix-agents/core'
import type { SessionRequest } from '@helix-agents/core/runtime'
import type { DOStateStore } from '@helix-agents/store-cloudflare'
import type { AlarmSource } from './alarm-scheduler.ts'

export interface RequestExpiryParts {
  readonly stateStore: DOStateStore
  /** Resumes a session that waits: what has expired is denied then. */
  readonly resume: (agent: Agent, sessionId: string) => Promise<unknown>
  readonly agentOf: (name: string) => Agent | undefined
}

/**
 * Wakes an object when a request of a session that waits expires. Otherwise a session that waits has
 * no alarm.
 */
export class RequestExpiry implements AlarmSource {
  readonly name = 'requests'
  readonly #parts: RequestExpiryParts

  constructor(parts: RequestExpiryParts) {
    this.#parts = parts
  }

  async nextAt(): Promise<number | undefined> {
    const times = (await this.#waiting()).map(({ expiresAt }) => expiresAt)
    return times.length === 0 ? undefined : Math.min(...times)
  }

  async run(now: number): Promise<void> {
    const { stateStore, resume, agentOf } = this.#parts
    const due = (await this.#waiting()).filter(({ expiresAt }) => expiresAt <= now)
    for (const sessionId of new Set(due.map((request) => request.sessionId))) {
      const { agentType = '' } = (await stateStore.loadSession(sessionId)) ?? {}
      const agent = agentOf(agentType)
      if (agent === undefined) throw new TypeError(`there is no agent ${agentType} any more`)
      await resume(agent, sessionId)
    }
  }

  /** Requests without an answer that expire, of sessions that no run acts for. */
  async #waiting(): Promise<readonly Expiring[]> {
    const { stateStore } = this.#parts
    const found: Expiring[] = []
    let cursor: string | undefined
    do {
      // At the beginning of time none has expired.
      const query = { state: 'open', now: 0, ...(cursor !== undefined && { cursor }) } as const
      const page = await stateStore.listRequests(query)
      found.push(...page.items.filter(isExpiring))
      cursor = page.nextCursor
    } while (cursor !== undefined)
    const isWaiting = new Map<string, boolean>()
    for (const { sessionId } of found) {
      if (isWaiting.has(sessionId)) continue
      const session = await stateStore.loadSession(sessionId)
      isWaiting.set(sessionId, session?.status === 'waiting')
    }
    return found.filter(({ sessionId }) => isWaiting.get(sessionId) === true)
  }
}

type Expiring = SessionRequest & { readonly expiresAt: number }

function isExpiring(request: SessionRequest): request is Expiring {
  return request.expiresAt !== undefined
}
