import type { Message } from '@helix-agents/core'
import type { JournalEntry, JournalResult } from '@helix-agents/core/runtime'
import { beforeEach, describe, expect, it } from 'vitest'
import { TestHost } from '../../test-host.ts'
import { addSession, SECRET } from './sample-sessions.ts'

let host: TestHost
beforeEach(() => {
  host = new TestHost()
})

const result = (isError: boolean): JournalResult => ({
  endedAt: 3000,
  message: { role: 'tool', toolCallId: 'c', toolName: 't', content: 'x', isError },
})
const JOURNAL: readonly JournalEntry[] = [
  {
    toolCallId: 'c-1',
    toolName: 'write_file',
    arguments: {},
    startedAt: 2500,
    result: result(false),
  },
  { toolCallId: 'c-2', toolName: 'rm', arguments: {}, startedAt: 2500, result: result(true) },
  { toolCallId: 'c-3', toolName: 'run', arguments: {}, startedAt: 2500 },
]
const MESSAGES: readonly Message[] = [
  {
    role: 'user',
    content: 'Write\na poem',
    files: [{ data: new Uint8Array(7), mediaType: 'image/png' }],
  },
  {
    role: 'assistant',
    content: 'Yes.',
    toolCalls: [{ id: 'c', name: 'run', arguments: { a: 1 } }],
  },
  {
    role: 'tool',
    toolCallId: 'c',
    toolName: 'run',
    isError: true,
    content: [
      { type: 'text', text: 'it broke' },
      { type: 'media', mediaType: 'image/png', data: new Uint8Array(3) },
    ],
  },
  { role: 'assistant', content: 'x'.repeat(1000) },
]

describe('helix sessions show', () => {
  it('tells all that matters of an interrupted session', async () => {
    await addSession(host.stateStore, {
      sessionId: 's-1',
      status: 'interrupted',
      messages: MESSAGES,
      journal: JOURNAL,
      workspaces: ['box'],
    })
    const { code, out } = await host.run(['sessions', 'show', 's-1'])
    expect(code).toBe(0)
    expect(out.split('\n')).toEqual([
      'session  s-1',
      'agent    tester',
      'status   interrupted',
      'steps    1 in 4 messages',
      'created  1970-01-01T00:00:01Z, 16m ago',
      'updated  1970-01-01T00:01:02Z, 15m ago',
      '',
      'Runs',
      'TURN  RUN         STATUS       STEPS  STARTED               TOOK',
      '   1  run-of-s-1  interrupted      1  1970-01-01T00:00:02Z    1m',
      '',
      'Workspaces',
      'NAME  PROVIDER    REF VERSION  CAPABILITIES  STORAGE',
      'box   local-bash            1  fs, shell     kept',
      '',
      'Journal of the step that was under way',
      'CALL  TOOL        STARTED  OUTCOME',
      'c-1   write_file  16m ago  done',
      'c-2   rm          16m ago  error',
      'c-3   run         16m ago  outcome unknown',
      '',
      'Messages, the last 4 of 4',
      '#  ROLE       TEXT',
      String.raw`1  user       Write\na poem [1 files]`,
      '2  assistant  Yes. run({"a":1})',
      '3  tool       run: it broke [image/png]',
      `4  assistant  ${'x'.repeat(200)}… (800 more)`,
      '',
      'How to continue',
      'It is paused: executor.resume(agent, "s-1").',
      expect.stringMatching(/^Calls without a result: 1\./),
      '',
    ])
  })
  it.each([
    ['idle', undefined, 'executor.execute(agent, message, { sessionId: "s-1" })'],
    ['running', 'running', 'executor.resume(agent, "s-1")'],
    ['completed', 'completed', 'executor.execute(agent, message, { sessionId: "s-1" })'],
    ['failed', 'failed', 'executor.resume(agent, "s-1")'],
    ['aborted', 'aborted', 'executor.branch(agent, { fromSessionId: "s-1" })'],
  ] as const)('says how to go on when it is %s', async (_, status, advice) => {
    await addSession(host.stateStore, { sessionId: 's-1', ...(status && { status }) })
    expect((await host.run(['sessions', 'show', 's-1'])).out).toContain(advice)
  })
  it.each(['completed', 'aborted'] as const)('shows what a %s session owes', async (status) => {
    const workspaces = ['box', 'disk', 'kept']
    const owed = ['disk', 'box']
    await addSession(host.stateStore, { sessionId: 's-1', status, workspaces, end: { owed } })
    const { out } = await host.run(['sessions', 'show', 's-1'])
    expect(out).toContain('The close of box, disk did not finish')
    expect(out).toContain('(await executor.getHandle(agent, "s-1"))?.abort() tries again.')
    const { session } = await host.json(['sessions', 'show', 's-1'])
    expect((session as { owedWorkspaces: string[] }).owedWorkspaces).toEqual(['box', 'disk'])
  })
  it('does not call a session owing that keeps its files, nor an open call of a running one unknown', async () => {
    await addSession(host.stateStore, { sessionId: 'f', status: 'completed', workspaces: ['box'] })
    const leaseUntil = host.clock.now() + 42_500
    const running = { sessionId: 'r', status: 'running', journal: JOURNAL, leaseUntil } as const
    await addSession(host.stateStore, running)
    expect((await host.run(['sessions', 'show', 'f'])).out).not.toContain('owed')
    const { out } = await host.run(['sessions', 'show', 'r'])
    expect([out.includes('under way\n'), out.includes('unknown')]).toEqual([true, false])
    expect(out).toMatch(/^lease {4}\S+, 42s left$/m)
    expect(out).toContain('A process holds it for another 42s')
  })
  it('says that the process of a running session is dead when its lease is out', async () => {
    await addSession(host.stateStore, { sessionId: 'r', status: 'running', journal: JOURNAL })
    const { out } = await host.run(['sessions', 'show', 'r'])
    expect(out).toMatch(/^lease {4}1970-01-01T00:01:02Z, ran out 15m ago$/m)
    expect(out).toMatch(/c-3 .* outcome unknown$/m)
    expect(out).toContain('Its process died: its lease ran out 15m ago.')
    expect((await host.run(['sessions', 'list'])).out).toContain('running, lease out')
  })
  it('tells a shutdown from a pause', async () => {
    const error = { code: 'shutdown', message: 'the process was shut down' }
    await addSession(host.stateStore, { sessionId: 's', status: 'interrupted', end: { error } })
    const { out } = await host.run(['sessions', 'show', 's'])
    expect(out).toContain('Its process was shut down: executor.resume(agent, "s").')
  })
  it('shows the error of a failed run', async () => {
    const error = { code: 'max-steps', message: 'no \x1b[31mend' }
    await addSession(host.stateStore, { sessionId: 's-1', status: 'failed', end: { error } })
    const { out } = await host.run(['sessions', 'show', 's-1'])
    expect(out).toContain(String.raw`error    max-steps: no \x1b[31mend`)
  })
  it('shows as many messages as asked for', async () => {
    const messages = Array.from({ length: 80 }, (_, i): Message => ({
      role: 'user',
      content: `m-${i}`,
    }))
    await addSession(host.stateStore, { sessionId: 's-1', status: 'failed', messages })
    const count = async (...args: string[]): Promise<number> => {
      const report = await host.json(['sessions', 'show', 's-1', ...args])
      return (report as { messages: unknown[] }).messages.length
    }
    expect(await count()).toBe(5)
    expect(await count('--messages', '0')).toBe(0)
    expect(await count('--messages', '7')).toBe(7)
    expect(await count('--messages')).toBe(50)
    expect(await count('--messages', '1000')).toBe(80)
  })
  it('shows checkpoints when asked', async () => {
    await addSession(host.stateStore, { sessionId: 's-1', status: 'failed', workspaces: ['box'] })
    const { out } = await host.run(['sessions', 'show', 's-1', '--checkpoints'])
    expect(out).toContain('cp-s-1')
    const args = ['sessions', 'show', 's-1', '--checkpoints', '--json']
    const json = await host.run(args)
    expect(json.out).not.toContain(SECRET)
    expect(JSON.parse(json.out).checkpoints).toMatchObject([{ id: 'cp-s-1', stepCount: 1 }])
  })
  it('shows what is in refs only with --refs', async () => {
    await addSession(host.stateStore, { sessionId: 's-1', status: 'failed', workspaces: ['box'] })
    for (const json of [[], ['--json']]) {
      const args = ['sessions', 'show', 's-1', '--checkpoints', ...json]
      expect((await host.run(args)).out).not.toContain(SECRET)
      expect((await host.run([...args, '--refs'])).out).toContain(SECRET)
    }
  })
  it('counts bytes in JSON', async () => {
    await addSession(host.stateStore, { sessionId: 's-1', status: 'failed', messages: MESSAGES })
    const { messages } = await host.json(['sessions', 'show', 's-1'])
    expect((messages as { files: unknown }[])[0]?.files).toEqual([
      { data: { bytes: 7 }, mediaType: 'image/png' },
    ])
  })
  it('does not know every session', async () => {
    expect(await host.run(['sessions', 'show', 'nobody'])).toMatchObject({ code: 3, out: '' })
    expect((await host.run(['sessions', 'show'])).code).toBe(2)
  })
})
