import type { SessionRequest } from '@helix-agents/core/runtime'
import type { Cell } from '../../output/cell.ts'
import { toAgeText, toDurationText } from '../../output/duration-text.ts'

/** What a request stands at: an expired one counts as denied, also before that is stored. */
export function stateOf(
  { resolution, expiresAt, startedAt, replacedBy }: SessionRequest,
  now: number,
): string {
  if (replacedBy !== undefined) return 'void'
  if (resolution === undefined) {
    return expiresAt !== undefined && expiresAt <= now ? 'expired' : 'open'
  }
  if (startedAt !== undefined) return 'started'
  return resolution.decision
}

export function stateCell(request: SessionRequest, now: number): Cell {
  const text = stateOf(request, now)
  if (text === 'open') return { text, tone: 'warning' }
  if (text === 'approve' || text === 'started' || text === 'output') return { text, tone: 'good' }
  return { text, tone: text === 'deny' ? 'bad' : 'faint' }
}

export function expiryText({ expiresAt }: SessionRequest, now: number): string {
  if (expiresAt === undefined) return '-'
  return expiresAt > now ? `in ${toDurationText(expiresAt - now)}` : toAgeText(expiresAt, now)
}

/** Names of agents, the root first. */
export function askerText({ agentPath }: SessionRequest): string {
  return agentPath.join(' > ')
}
