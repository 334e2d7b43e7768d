import { expect, test } from 'vitest'
import { nextState } from '../../../src/registry/entry/state-machine.ts'

const states = ['declared', 'opening', 'open', 'evicted', 'failed', 'closing', 'closed'] as const
const events = ['open', 'opened', 'evict', 'fail', 'reset', 'close', 'closed'] as const

const legal: Record<string, string> = {
  'declared open': 'opening',
  'declared fail': 'failed',
  'declared close': 'closing',
  'opening opened': 'open',
  'opening fail': 'failed',
  'opening close': 'closing',
  'open evict': 'evicted',
  'open close': 'closing',
  'evicted open': 'opening',
  'evicted close': 'closing',
  'failed open': 'opening',
  'failed reset': 'declared',
  'failed close': 'closing',
  'closing closed': 'closed',
}

const pairs = states.flatMap((state) =>
  events.map((event) => ({ state, event, expected: legal[`${state} ${event}`] })),
)
const isLegal = (pair: { expected: string | undefined }) => pair.expected !== undefined

test.each(pairs.filter(isLegal))('$state, $event: $expected', ({ state, event, expected }) => {
  expect(nextState(state, event)).toBe(expected)
})

test.each(pairs.filter((pair) => !isLegal(pair)))('$state cannot $event', ({ state, event }) => {
  expect(() => nextState(state, event)).toThrow(`a workspace that is ${state} cannot ${event}`)
})
