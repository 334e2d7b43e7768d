// What an operator is told to do about a session.
import type { JournalEntry, SessionState } from '@helix-agents/core/runtime'
import { expect, it } from 'vitest'
import { adviceFor } from '../../../src/commands/sessions/advice.ts'

const NOW = 1_000_000

/** Only what the advice looks at. */
function advice(session: Partial<SessionState>, journal: readonly Partial<JournalEntry>[] = []) {
  const report = { session: { sessionId: 's', ...session }, journal, runs: [], messages: [] }
  return adviceFor(report as unknown as Parameters<typeof adviceFor>[0], NOW)
}

it.each([
  ['idle', {}, 'It had no run yet: executor.execute('],
  ['running', {}, 'Its process died. executor.resume(agent, "s")'],
  ['running', { leaseUntil: NOW }, 'Its process died: its lease ran out 0ms ago. '],
  ['running', { leaseUntil: NOW - 60_000 }, 'Its process died: its lease ran out 1m ago. '],
  ['running', { leaseUntil: NOW + 60_000 }, 'A process holds it for another 1m, '],
  ['interrupted', {}, 'It is paused: executor.resume(agent, "s").'],
  ['interrupted', { error: { code: 'shutdown' } }, 'Its process was shut down: executor.resume('],
  ['interrupted', { error: { code: 'other' } }, 'It is paused: '],
  ['waiting', {}, 'A call waits for a person: helix approvals list --session "s" '],
  ['completed', {}, 'It takes a further message: executor.execute('],
  ['failed', {}, 'executor.resume(agent, "s") tries again '],
  ['aborted', {}, 'It is not resumed. A new turn is executor.execute('],
] as const)('%s, %j', (status, fields, start) => {
  const [first, ...others] = advice({ status, ...fields } as Partial<SessionState>)
  expect(first?.slice(0, start.length)).toBe(start)
  expect(others).toEqual([])
})

it('an outcome that is decided is told while it still runs', () => {
  const outcome = { status: 'completed' } as never
  const decided = 'Its last step decided the outcome already: completed.'
  expect(advice({ status: 'running', outcome }).slice(1)).toEqual([decided])
  expect(advice({ status: 'interrupted', outcome }).slice(1)).toEqual([])
})

it('calls of which nobody knows are counted, unless a process is at them', () => {
  const journal = [{}, { result: {} }, {}] as never
  const [, second] = advice({ status: 'interrupted' }, journal)
  expect(second).toMatch(/^Calls without a result: 2\. They are not repeated, /)
  expect(advice({ status: 'running', leaseUntil: NOW + 1 }, journal)).toHaveLength(1)
})

it('what is owed is named', () => {
  const [, second] = advice({ status: 'completed', owed: ['b', 'a'] })
  expect(second).toMatch(/^The close of a, b did not finish, .*executor\.getHandle\(agent, "s"\)/)
})
