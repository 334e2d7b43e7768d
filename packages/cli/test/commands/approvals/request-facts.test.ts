// How a request stands.
import type { SessionRequest } from '@helix-agents/core/runtime'
import { describe, expect, it } from 'vitest'
import {
  askerText,
  expiryText,
  stateCell,
  stateOf,
} from '../../../src/commands/approvals/request-facts.ts'

const NOW = 1_000_000
const requestOf = (fields: Partial<SessionRequest>): SessionRequest =>
  ({ agentPath: ['a', 'b'], ...fields }) as SessionRequest
const resolution = (decision: string) => ({ decision, at: NOW }) as never

describe('a request', () => {
  it.each([
    [{}, 'open', 'warning'],
    [{ expiresAt: NOW + 1 }, 'open', 'warning'],
    [{ expiresAt: NOW }, 'expired', 'faint'],
    [{ expiresAt: NOW, resolution: resolution('approve') }, 'approve', 'good'],
    [{ resolution: resolution('output') }, 'output', 'good'],
    [{ resolution: resolution('deny') }, 'deny', 'bad'],
    [{ resolution: resolution('expired') }, 'expired', 'faint'],
    [{ resolution: resolution('approve'), startedAt: NOW }, 'started', 'good'],
    [{ startedAt: NOW }, 'open', 'warning'],
    [{ resolution: resolution('approve'), startedAt: NOW, replacedBy: 'r' }, 'void', 'faint'],
  ])('with %j is %s', (fields, state, tone) => {
    const request = requestOf(fields)
    expect(stateOf(request, NOW)).toBe(state)
    expect(stateCell(request, NOW)).toEqual({ text: state, tone })
  })

  it.each([
    [{}, '-'],
    [{ expiresAt: NOW + 60_000 }, 'in 1m'],
    [{ expiresAt: NOW }, '0ms ago'],
    [{ expiresAt: NOW - 60_000 }, '1m ago'],
  ])('with %j expires %s', (fields, text) => {
    expect(expiryText(requestOf(fields), NOW)).toBe(text)
  })

  it('is of the agents that lead to it', () => {
    expect(askerText(requestOf({}))).toBe('a > b')
  })
})
