// What a command opens it closes, before it ends, whether its work was done or not.
import { beforeEach, describe, expect, it } from 'vitest'
import { TestHost } from './test-host.ts'

let host: TestHost
beforeEach(() => {
  host = new TestHost()
})

const COMMANDS = [
  ['sessions', 'list'],
  ['sessions', 'show', 'unknown'],
  ['approvals', 'list'],
  ['approvals', 'show', 'unknown', 'unknown'],
  ['approvals', 'deny', 'unknown', 'unknown'],
  ['snapshots', 'list'],
  ['snapshots', 'show', 'unknown'],
  ['snapshots', 'verify'],
  ['snapshots', 'gc'],
  ['fleet', 'stats', '--db', 'fleet.db'],
  ['fleet', 'list', '--db', 'fleet.db'],
  ['fleet', 'show', 'unknown', '--db', 'fleet.db'],
]

/** Whether a command is over, and closed what it opened, before and after that could be closed. */
async function ended(args: readonly string[]): Promise<readonly unknown[]> {
  const closing = Promise.withResolvers<void>()
  host.closing = closing.promise
  const progress = { isDone: false }
  const ran = host.run(args).finally(() => {
    progress.isDone = true
  })
  for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate)
  const before = [host.opened.length, host.closed, progress.isDone]
  closing.resolve()
  await ran
  return [...before, host.closed]
}

describe.each(COMMANDS)('helix %s %s %s', (...command) => {
  it('ends when everything is closed, and not before', async () => {
    const args = command.filter((arg) => typeof arg === 'string')
    expect(await ended(args)).toEqual([1, 0, false, 1])
  })
})

it('a ledger that cannot be read is closed as well', async () => {
  host.fleetStore.list = () => Promise.reject(new Error('broken'))
  expect(await ended(['fleet', 'stats', '--db', 'fleet.db'])).toEqual([1, 0, false, 1])
})
