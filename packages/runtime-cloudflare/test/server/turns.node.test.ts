// What a client asks of a session, and what the executor is told: when, and with which options.
import { describe, expect, test } from 'vitest'
import type { TurnRequest } from '../../src/server/server-hooks.ts'
import {
  abort,
  answer,
  interrupt,
  queue,
  restore,
  resume,
  sendMessage,
  start,
} from '../../src/server/turns.ts'
import { later } from '../node-object.ts'
import { codeOf, ends, setup } from './recording-host.ts'

test('a session is started once, with its owner and its labels', async () => {
  const caller = { userId: 'u', tags: ['x'], metadata: { y: 1 }, isOperator: true }
  const { events, open } = setup({ caller })
  await start('Go')(await open())
  await start('Go', { n: 1 })(await open())
  const { isOperator: _, ...labels } = caller
  const options = { ...labels, sessionId: 's', keepWorkspaces: true }
  expect(events).toStrictEqual([
    ['execute', 'a', 'Go', options],
    ['execute', 'a', { message: 'Go', state: { n: 1 } }, options],
  ])
  const plain = setup({ options: { keepWorkspaces: false }, status: 'idle' })
  await start('Go')(await plain.open())
  expect(plain.events).toStrictEqual([
    ['execute', 'a', 'Go', { sessionId: 's', keepWorkspaces: false }],
  ])
  for (const status of ends.slice(1)) {
    const there = setup({ status })
    expect(await codeOf(start('Go')(await there.open()))).toBe(
      'session-exists: the session exists: send it a message',
    )
    expect(there.events).toEqual([])
  }
})

test.each(ends)(
  'a message to one that is %s starts a turn, or resumes one that was not finished',
  async (status) => {
    const { events, open } = setup({ status })
    await sendMessage('on')(await open())
    const options = { keepWorkspaces: true }
    expect(events).toEqual(
      status === 'interrupted' || status === 'failed'
        ? [['resume', 'a', 's', { ...options, message: 'on' }]]
        : [['execute', 'a', 'on', { ...options, sessionId: 's' }]],
    )
  },
)

test.each(ends)(
  'one that is %s takes a message for its run only while it has one',
  async (status) => {
    const { events, open } = setup({ status })
    const isBusy = status === 'running' || status === 'waiting'
    const sent = await queue('psst', { delivery: 'steer' })(await open())
    expect(sent).toEqual(isBusy ? { messageId: 'm' } : undefined)
    await queue('psst', { delivery: 'followUp', messageId: 'own' })(await open())
    expect(await queue('psst', {})(await open())).toBeUndefined()
    expect(events).toStrictEqual(
      isBusy
        ? [
            ['send', 'a', 's', 'psst', { delivery: 'steer' }],
            ['send', 'a', 's', 'psst', { delivery: 'followUp', messageId: 'own' }],
          ]
        : [],
    )
  },
)

test.each(ends)('one that is %s is resumed, unless it has ended', async (status) => {
  const { events, open } = setup({ status })
  const plain = await codeOf(resume()(await open()))
  const withMessage = await codeOf(resume('on')(await open()))
  const refusal = `not-resumable: the session is ${status}`
  const hasEnded = status === 'completed' || status === 'aborted'
  expect([plain, withMessage]).toEqual([
    hasEnded ? refusal : 'done',
    status === 'aborted' ? refusal : 'done',
  ])
  expect(events).toHaveLength([plain, withMessage].filter((end) => end === 'done').length)
})

test('who answers is what the application says', async () => {
  const { events, open } = setup({ status: 'waiting', caller: { userId: 'u' } })
  await answer('q', { decision: 'deny', by: 'someone else' })(await open())
  const nobody = setup({ status: 'waiting' })
  await answer('q', { decision: 'deny' })(await nobody.open())
  expect(events).toEqual([['respond', 'a', 's', 'q', { decision: 'deny', by: 'u' }]])
  expect(nobody.events).toStrictEqual([['respond', 'a', 's', 'q', { decision: 'deny' }]])
})

test('a session goes back to a checkpoint that it has, and no run is recovered then', async () => {
  const { events, open } = setup({ status: 'failed' })
  await restore('c', { files: true })(await open())
  expect(events).toEqual([['restore', 'a', 's', 'c', { files: true }], 'forget'])
  expect(await codeOf(restore('none')(await open()))).toBe('not-found: there is no such checkpoint')
})

test.each(ends)(
  'one that is %s is interrupted and aborted when that means something',
  async (status) => {
    const cut = setup({ status })
    const isRunning = status === 'running'
    const refusal = `not-running: the session does not run: it is ${status}`
    expect(await codeOf(interrupt(await cut.open()))).toBe(isRunning ? 'done' : refusal)
    expect(cut.events).toEqual(isRunning ? ['may change', 'pause'] : ['may change'])
    const live = setup({ status, running: true })
    await interrupt(await live.open())
    expect(live.events).toEqual(['may change', 'interrupt'])
    const over = setup({ status })
    const isOpen = ['running', 'waiting', 'interrupted', 'failed'].includes(status)
    expect(await codeOf(abort(await over.open()))).toBe(isOpen ? 'done' : refusal)
    expect(over.events).toEqual(isOpen ? ['may change', 'abort', 'forget'] : ['may change'])
  },
)

test('nothing but a start is done to a session that is not there', async () => {
  const { events, open } = setup()
  const access = await open()
  for (const turn of [sendMessage('x'), resume(), restore('c'), interrupt, abort]) {
    expect(await codeOf(turn(access))).toBe('not-found: there is no such session')
  }
  expect(await codeOf(queue('x', { delivery: 'steer' })(access))).toContain('no such session')
  expect(await codeOf(answer('q', { decision: 'deny' })(access))).toContain('no such session')
  expect(events).toEqual([])
})

function turnOf(turn: TurnRequest): object {
  const { executionState, ...shown } = turn
  expect(executionState).toBeDefined()
  return shown
}

describe('hooks', () => {
  const caller = { userId: 'u' }

  test('are asked before a turn and told after it', async () => {
    const seen: unknown[] = []
    const note = (name: string) => async (turn: TurnRequest) => {
      await later()
      seen.push([name, turnOf(turn)])
    }
    const hooks = {
      beforeStart: note('beforeStart'),
      afterStart: note('afterStart'),
      beforeResume: note('beforeResume'),
      afterResume: note('afterResume'),
    }
    const { open, state } = setup({ options: { hooks }, caller, owner: 'u' })
    const counts: number[] = []
    await start('Go')(await open())
    counts.push(seen.length)
    state.status = 'failed'
    await resume()(await open())
    counts.push(seen.length)
    await resume('on')(await open())
    expect([...counts, seen.length]).toEqual([2, 4, 6])
    const turn = { sessionId: 's', agent: 'a', caller }
    expect(seen).toStrictEqual([
      ['beforeStart', { ...turn, message: 'Go' }],
      ['afterStart', { ...turn, message: 'Go', runId: 'r' }],
      ['beforeResume', turn],
      ['afterResume', { ...turn, runId: 'r' }],
      ['beforeResume', { ...turn, message: 'on' }],
      ['afterResume', { ...turn, message: 'on', runId: 'r' }],
    ])
  })

  test('may interrupt the run under way: a message resumes that one then', async () => {
    const parts = setup({
      status: 'running',
      running: true,
      options: {
        hooks: {
          beforeStart: async ({ executionState }: TurnRequest) => {
            parts.events.push(executionState.isExecuting)
            await executionState.interrupt('newer')
            Object.assign(parts.state, { status: 'interrupted', running: false })
            parts.events.push(executionState.isExecuting)
            await executionState.interrupt('again')
          },
        },
      },
    })
    await sendMessage('on')(await parts.open())
    expect(parts.events).toEqual([
      true,
      'interrupt',
      'result',
      false,
      ['resume', 'a', 's', { keepWorkspaces: true, message: 'on' }],
    ])
    expect(parts.logger.lines).toEqual([
      {
        level: 'info',
        message: 'run is interrupted by a hook',
        fields: { sessionId: 's', reason: 'newer' },
      },
    ])
  })

  test.each(['beforeStart', 'beforeResume'])(
    '%s may outlast the session: then nothing is started',
    async (name) => {
      const parts = setup({
        status: 'failed',
        options: { hooks: { [name]: async () => void (parts.state.erasures += 1) } },
      })
      const turn = name === 'beforeStart' ? undefined : resume()
      if (turn === undefined) parts.state.status = 'completed'
      const access = await parts.open()
      expect(await codeOf((turn ?? sendMessage('x'))(access))).toContain('no such session')
      expect(parts.events).toEqual([])
    },
  )
})
