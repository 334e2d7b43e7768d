// Which sessions go on by themselves, and how: what was left, what was sent, what was answered or has expired.
import { AgentAlreadyRunningError, defineAgent } from '@helix-agents/core'
import type { SessionState } from '@helix-agents/core/runtime'
import { ManualClock } from '@helix-agents/core/testing'
import { describe, expect, test } from 'vitest'
import { recoverSession } from '../../src/executor/recover-session.ts'
import type { RunServices } from '../../src/ports.ts'

const NOW = 1000
const agent = defineAgent({ name: 'a', llmConfig: { model: {} } })

interface Given {
  readonly session?: Partial<SessionState>
  readonly signals?: object
  readonly isActive?: boolean
  /** When open requests expire. */
  readonly expiries?: readonly (number | undefined)[]
  readonly start?: () => Promise<never>
}

function recover({ session = {}, signals = {}, isActive = false, expiries = [], start }: Given) {
  const stored = {
    sessionId: 's',
    agentType: 'a',
    status: 'completed',
    messageCount: 3,
    ...session,
  } as SessionState
  const asked: unknown[] = []
  const stateStore = {
    loadSession: async () => ({ ...stored }),
    loadSignals: async () => ({ answered: 0, steering: 0, followUps: 0, ...signals }),
    listRequests: async (query: object) => {
      asked.push(query)
      const items = expiries.map((expiresAt) => (expiresAt === undefined ? {} : { expiresAt }))
      return { items }
    },
  }
  const services = {
    stateStore,
    clock: new ManualClock(NOW),
    active: { isRunning: () => isActive },
  } as unknown as RunServices
  const begin = start ?? (async (mode: string) => mode as never)
  const work = recoverSession(services, agent, { sessionId: 's', start: begin })
  return { work, asked }
}

const outcomeOf = async (given: Given) => {
  const { outcome, ...rest } = await recover(given).work
  return [outcome, ...Object.values(rest)]
}
const running = { status: 'running' } as const
const shutDown = { status: 'interrupted', error: { code: 'shutdown', message: '' } } as const
const sent = [{ steering: 1 }, { followUps: 1 }]

describe('a session that was left', () => {
  test.each<readonly [string, Given, readonly unknown[]]>([
    ['by a process that died', { session: running }, ['resumed', 'resume']],
    ['by a shutdown', { session: shutDown }, ['resumed', 'resume']],
    [
      'before its message was heard',
      { session: { ...running, messageCount: 0 }, signals: sent[0]! },
      ['resumed', 'execute'],
    ],
    [
      'before its other message was heard',
      { session: { ...running, messageCount: 0 }, signals: sent[1]! },
      ['resumed', 'execute'],
    ],
    ['without any message', { session: { ...running, messageCount: 0 } }, ['resumed', 'resume']],
    ['with more to hear', { session: running, signals: sent[0]! }, ['resumed', 'resume']],
    ['and is held', { session: { ...running, leaseUntil: NOW + 1 } }, ['held', NOW + 1]],
    [
      'and whose lease is over',
      { session: { ...running, leaseUntil: NOW } },
      ['resumed', 'resume'],
    ],
    ['and runs here', { session: running, isActive: true }, ['not-needed', 'running']],
    ['by its parent', { session: { ...running, parentSessionId: 'p' } }, ['not-needed', 'running']],
    [
      'by a shutdown of its parent',
      { session: { ...shutDown, parentSessionId: 'p' } },
      ['not-needed', 'interrupted'],
    ],
    ['by its user', { session: { status: 'interrupted' } }, ['not-needed', 'interrupted']],
    [
      'for another reason',
      { session: { status: 'interrupted', error: { code: 'x', message: '' } } },
      ['not-needed', 'interrupted'],
    ],
    [
      'as it failed in a shutdown',
      { session: { ...shutDown, status: 'failed' } },
      ['not-needed', 'failed'],
    ],
  ])('%s', async (_, given, expected) => {
    expect(await outcomeOf(given)).toEqual(expected)
  })
})

describe('a session that is over', () => {
  test.each<readonly [Given, readonly unknown[]]>([
    [{}, ['not-needed', 'completed']],
    [{ signals: sent[0]! }, ['resumed', 'execute']],
    [{ signals: sent[1]! }, ['resumed', 'execute']],
    [{ session: { status: 'idle' } }, ['not-needed', 'idle']],
    [{ session: { status: 'idle' }, signals: sent[1]! }, ['resumed', 'execute']],
    [{ session: { status: 'failed' }, signals: sent[0]! }, ['not-needed', 'failed']],
    [{ session: { status: 'aborted' }, signals: sent[0]! }, ['not-needed', 'aborted']],
    [{ signals: sent[0]!, isActive: true }, ['not-needed', 'completed']],
    [{ signals: sent[0]!, session: { parentSessionId: 'p' } }, ['not-needed', 'completed']],
    [{ signals: { answered: 1 } }, ['not-needed', 'completed']],
  ])('goes on with what was sent to it: %j, %j', async (given, expected) => {
    expect(await outcomeOf(given)).toEqual(expected)
  })
})

describe('a session that waits', () => {
  const session = { status: 'waiting' } as const
  test.each<readonly [Given, readonly unknown[]]>([
    [{}, ['not-needed', 'waiting']],
    [{ signals: { answered: 1 } }, ['resumed', 'resume']],
    [{ signals: sent[0]! }, ['not-needed', 'waiting']],
    [{ expiries: [undefined, NOW + 1] }, ['not-needed', 'waiting']],
    [{ expiries: [undefined, NOW] }, ['resumed', 'resume']],
    [{ signals: { answered: 1 }, isActive: true }, ['not-needed', 'waiting']],
  ])(
    'goes on with an answer, or when the time for one is over: %j, %j',
    async (given, expected) => {
      expect(await outcomeOf({ ...given, session })).toEqual(expected)
    },
  )

  test('is looked at for what has expired only when nothing was answered', async () => {
    const answered = recover({ session, signals: { answered: 1 } })
    await answered.work
    expect(answered.asked).toEqual([])
    const open = recover({ session })
    await open.work
    // Those that have expired since are among them.
    expect(open.asked).toEqual([{ sessionId: 's', state: 'open', now: 0 }])
  })
})

const taken = () => Promise.reject(new AgentAlreadyRunningError('s'))

test('who comes second is told until when the first one has it; other failures are failures', async () => {
  const session = { ...running, leaseUntil: 5 }
  expect(await outcomeOf({ session, start: taken })).toEqual(['held', 5])
  const failing = recover({ session, start: () => Promise.reject(new Error('no')) })
  await expect(failing.work).rejects.toThrow('no')
})

test('only a session of its own is one of an agent', async () => {
  await expect(recover({ session: { agentType: 'b' } }).work).rejects.toMatchObject({
    code: 'other-agent',
  })
})
