// What a module of the user has to give, what is done with it, and how its errors end a command.
import {
  AgentAlreadyRunningError,
  defineAgent,
  SessionError,
  StateStoreError,
} from '@helix-agents/core'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { TestHost } from '../../../test-host.ts'
import { addSession } from '../sample-sessions.ts'

const MODULE = import.meta.filename
const agent = defineAgent({ name: 'tester', llmConfig: { model: 'mock' } })

let host: TestHost
let calls: unknown[]
let closed: number
let opened: Record<string, unknown>
beforeEach(async () => {
  host = new TestHost()
  calls = []
  closed = 0
  await addSession(host.stateStore, { sessionId: 's', status: 'completed' })
  const record =
    (name: string, answer: unknown) =>
    async (_: unknown, ...given: readonly unknown[]) => {
      calls.push([name, ...given])
      return answer
    }
  opened = {
    executor: {
      diff: record('diff', CHANGES),
      restoreCheckpoint: record('restore', { sessionId: 's' }),
      branch: record('branch', { sessionId: 'new' }),
    },
    stateStore: host.stateStore,
    agents: [defineAgent({ name: 'other', llmConfig: { model: 'mock' } }), agent],
    close: () => void (closed += 1),
  }
  host.module = { openExecutor: async () => opened }
})

const CHANGES = [
  {
    workspace: 'repo',
    changes: [
      { path: '/new', change: 'added', diff: '@@ -0,0 +1 @@\n+a\n' },
      { path: '/old', change: 'removed', omitted: 'it is too large' },
      { path: '/changed', change: 'changed', diff: '-a\n+b\n c\n' },
    ],
    total: 5,
  },
  { workspace: 'same', changes: [], total: 0 },
]

const run = (...args: readonly string[]) => host.run(['sessions', ...args, '--host', MODULE])

/** A store whose checkpoints come in pages of two. */
function withCheckpoints(count: number): void {
  const all = Array.from({ length: count }, (_, index) => ({ id: `cp-${index}` }))
  host.stateStore.listCheckpoints = async (sessionId, { cursor = '0' } = {}) => {
    expect(sessionId).toBe('s')
    const start = Number(cursor)
    const nextCursor = start + 2 < count ? { nextCursor: String(start + 2) } : {}
    return { items: all.slice(start, start + 2), ...nextCursor } as never
  }
}

describe('a checkpoint', () => {
  it.each([
    ['~0', 'cp-0'],
    ['~1', 'cp-1'],
    ['~2', 'cp-2'],
    ['~4', 'cp-4'],
    ['an-id', 'an-id'],
    ['~', '~'],
    ['~1x', '~1x'],
    ['x~1', 'x~1'],
    ['~1234567', '~1234567'],
  ])('%s is %s', async (given, id) => {
    withCheckpoints(5)
    expect(await run('rewind', 's', given)).toMatchObject({ code: 0, out: `${id}\n` })
    expect(calls).toEqual([['restore', 's', id, {}]])
  })

  it.each(['~5', '~6', '~999999'])('%s is not there', async (given) => {
    withCheckpoints(5)
    const err = `helix: the session has no checkpoint ${given}\n`
    expect(await run('rewind', 's', given)).toEqual({ code: 3, out: '', err })
    expect([calls, closed]).toEqual([[], 1])
  })
})

describe('what is asked of the executor', () => {
  it('for a comparison', async () => {
    withCheckpoints(3)
    await run('diff', 's', '~2')
    await run('diff', 's', '~2', '~1', '--workspace', 'repo')
    expect(calls).toEqual([
      ['diff', 's', { from: 'cp-2', to: 'now' }],
      ['diff', 's', { from: 'cp-2', to: 'cp-1', workspace: 'repo' }],
    ])
  })

  it('to go back', async () => {
    const asked = async (...args: readonly string[]) => {
      const { out, err } = await run('rewind', 's', 'cp', ...args)
      return [
        out,
        err,
        await host.json(['sessions', 'rewind', 's', 'cp', '--host', MODULE, ...args]),
      ]
    }
    const said = 'the session is at this checkpoint; '
    const json = { sessionId: 's', checkpointId: 'cp' }
    expect(await asked()).toEqual([
      'cp\n',
      `${said}files stay as they are\n`,
      { ...json, files: false },
    ])
    expect(await asked('--files')).toEqual([
      'cp\n',
      `${said}files went back too\n`,
      { ...json, files: true },
    ])
    await run('rewind', 's', 'cp', '--files', 'repo', 'other')
    expect(calls.filter((_, index) => index % 2 === 0)).toEqual([
      ['restore', 's', 'cp', {}],
      ['restore', 's', 'cp', { files: true }],
      ['restore', 's', 'cp', { files: ['repo', 'other'] }],
    ])
  })

  it('for a branch', async () => {
    withCheckpoints(2)
    expect(await run('branch', 's')).toMatchObject({ code: 0, out: 'new\n', err: '' })
    await run('branch', 's', '--checkpoint', '~1', '--files', '--id', 'mine')
    expect(calls).toEqual([
      ['branch', { fromSessionId: 's' }],
      [
        'branch',
        { fromSessionId: 's', checkpointId: 'cp-1', sessionId: 'mine', files: 'checkpoint' },
      ],
    ])
    const branch = ['sessions', 'branch', 's', '--host', MODULE]
    expect(await host.json(branch)).toEqual({ sessionId: 'new', from: 's' })
    const json = { sessionId: 'new', from: 's', checkpointId: 'cp' }
    expect(await host.json([...branch, '--checkpoint', 'cp'])).toEqual(json)
  })
})

describe('a comparison', () => {
  it('lists what changed', async () => {
    const { out, err } = await host.run(['sessions', 'diff', 's', 'a', '--host', MODULE], {
      isTTY: true,
    })
    expect(out.replaceAll('\u001B', '').split('\n')).toEqual([
      '',
      '[1mrepo[22m',
      '[2mCHANGE [22m  [2mPATH[22m',
      '[32madded  [39m  /new',
      '[31mremoved[39m  /old',
      '[33mchanged[39m  /changed',
      '',
    ])
    expect(err).toBe('2 more are not listed\nsame: no differences\n')
  })

  it('shows the lines that differ, and why some are not shown', async () => {
    const args = ['sessions', 'diff', 's', 'a', '--patch', '--host', MODULE]
    const { out, err } = await host.run(args, { isTTY: true })
    expect(out.replaceAll('\u001B', '').split('\n').slice(6)).toEqual([
      '@@ -0,0 +1 @@',
      '[32m+a[39m',
      '[31m-a[39m',
      '[32m+b[39m',
      ' c',
      '',
    ])
    expect(err).toBe('/old: it is too large\n2 more are not listed\nsame: no differences\n')
    const json = await host.json(['sessions', 'diff', 's', 'a', 'b', '--host', MODULE])
    expect(json).toEqual({ from: 'a', to: 'b', workspaces: CHANGES })
  })
})

const said = async (): Promise<string> => {
  const { code, err } = await run('branch', 's')
  return `${code} ${err}`
}

describe('a module', () => {
  it('that is not there', async () => {
    const ran = await host.run(['sessions', 'branch', 's', '--host', '/nowhere/app.ts'])
    expect(ran).toMatchObject({ code: 3, err: 'helix: there is no file /nowhere/app.ts\n' })
    expect(host.opened).toEqual([])
  })

  it.each([{}, { openExecutor: {} }])('that exports %j opens nothing', async (module) => {
    host.module = module
    expect(await said()).toMatch(/^2 .* does not export a function openExecutor\n$/)
  })

  it.each([
    undefined,
    null,
    'text',
    { executor: {}, stateStore: {} },
    { executor: {}, agents: [] },
    { stateStore: {}, agents: [] },
  ])('that opens %j does not fit', async (given) => {
    host.module = { openExecutor: () => given }
    expect(await said()).toMatch(/^2 .* must give \{ executor, stateStore, agents, close \}\n$/)
  })

  it('without the agent of the session is closed again', async () => {
    opened['agents'] = []
    const problem = 'the module has no agent tester, to which the session belongs'
    expect([await said(), closed]).toEqual([`2 helix: ${problem}\n`, 1])
  })

  it('without the session is closed again', async () => {
    const ran = await run('branch', 'unknown')
    expect([ran.code, ran.err, closed]).toEqual([3, expect.stringContaining('(not-found)'), 1])
  })

  it('may have nothing to close', async () => {
    delete opened['close']
    expect(await run('branch', 's')).toMatchObject({ code: 0 })
  })

  it('is closed before the command ends', async () => {
    const gate = Promise.withResolvers<void>()
    opened['close'] = () => gate.promise
    let isDone = false
    const done = run('branch', 's').then(() => (isDone = true))
    for (let turn = 0; turn < 5; turn += 1) await new Promise(setImmediate)
    expect([calls.length, isDone]).toEqual([1, false])
    gate.resolve()
    await done
  })
})

describe('an error of the executor ends the command', () => {
  it.each([
    [new SessionError('not-resumable', 's', 'x'), 3],
    [new StateStoreError('unavailable', 's', 'x'), 3],
    [new StateStoreError('corrupt', 's', 'x'), 1],
    [new StateStoreError('conflict', 's', 'x'), 2],
    [new AgentAlreadyRunningError('s'), 1],
    [new Error('a bug'), 70],
  ])('%s: %d', async (error, code) => {
    opened['executor'] = { branch: vi.fn<() => Promise<never>>().mockRejectedValue(error) }
    const ran = await run('branch', 's')
    expect([ran.code, ran.err]).toEqual([code, expect.stringContaining(error.message)])
    expect(closed).toBe(1)
  })
})
