import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { SessionRequest } from '@helix-agents/core/runtime'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { DANGEROUS, TestHost } from '../test-host.ts'

let host: TestHost
beforeEach(() => {
  host = new TestHost()
})

const ASKED = 1_000_000 - 60_000

function requestFor(call: string, over: Partial<SessionRequest> = {}): SessionRequest {
  return {
    requestId: `r-${call}`,
    sessionId: 's-1',
    askingSessionId: 's-1',
    agentPath: ['fixer'],
    kind: 'approval',
    toolCallId: call,
    toolName: 'workspace__repo__run',
    arguments: '{"command":"git push"}',
    preview: { title: 'git push' },
    createdAt: ASKED,
    ...over,
  }
}

/** A session whose calls wait. */
async function waiting(sessionId: string, ...requests: readonly SessionRequest[]): Promise<void> {
  const { stateStore } = host
  const write = { sessionId, runId: 'r', now: ASKED }
  await stateStore.createSession({ ...write, agentType: 'fixer', customState: undefined })
  await stateStore.beginRun({ ...write, leaseMs: 1000 })
  const own = requests.map((one) => ({ ...one, sessionId, askingSessionId: sessionId }))
  await stateStore.addRequests({ ...write, requests: own })
  await stateStore.endRun({ ...write, status: 'interrupted' })
}

const approvals = (...args: readonly string[]) => host.run(['approvals', ...args])

describe('helix approvals list', () => {
  it('prints open requests, the oldest first', async () => {
    await waiting(
      's-1',
      requestFor('a'),
      requestFor('b', { agentPath: ['fixer', 'tester'], expiresAt: 1_000_000 + 3_600_000 }),
      requestFor('c', { expiresAt: 999_999 }),
    )
    await waiting('s-2', requestFor('d'))
    await approvals('deny', 's-2', 'r-d')
    const { code, out } = await approvals('list', '--db', 'some.db')
    expect(out.split('\n')).toEqual([
      'SESSION  REQUEST  AGENT           TOOL                  ASKS FOR   ASKED  EXPIRES',
      's-1      r-a      fixer           workspace__repo__run  git push  1m ago        -',
      's-1      r-b      fixer > tester  workspace__repo__run  git push  1m ago    in 1h',
      '',
    ])
    expect([code, host.opened.at(-1), host.closed]).toEqual([0, 'some.db', 2])
    const all = await approvals('list', '--all', '--session', 's-2')
    expect(all.out.split('\n')[1]).toMatch(/^s-2 .* deny$/)
    const { items } = await host.json(['approvals', 'list', '--all'])
    expect((items as SessionRequest[]).map(({ requestId }) => requestId)).toEqual([
      'r-a',
      'r-b',
      'r-c',
      'r-d',
    ])
  })

  it('pages, and says how to see more', async () => {
    const calls = Array.from({ length: 205 }, (_, index) => requestFor(`${index}`))
    await waiting('s-1', ...calls)
    const first = await approvals('list', '--limit', '203')
    const [, cursor = ''] = /--cursor (\S+)/.exec(first.err) ?? []
    expect(first.out.trim().split('\n')).toHaveLength(204)
    const { items, nextCursor } = await host.json(['approvals', 'list', '--cursor', cursor])
    expect((items as SessionRequest[]).map(({ requestId }) => requestId)).toEqual([
      'r-203',
      'r-204',
    ])
    expect(nextCursor).toBeUndefined()
  })

  it('names what is damaged, and ends with 1', async () => {
    await waiting('s-1', requestFor('a'))
    const list = host.stateStore.listRequests.bind(host.stateStore)
    host.stateStore.listRequests = async (query) => ({
      ...(await list(query)),
      unreadable: ['torn\x1b[2J'],
    })
    const { code, out, err } = await approvals('list')
    expect([code, out.split('\n').length]).toEqual([1, 3])
    expect(err).toBe(`${String.raw`damaged: request torn\x1b[2J`}\n`)
  })

  it('says that there are none, and what it cannot read', async () => {
    expect(await approvals('list')).toMatchObject({ code: 0, out: '', err: 'no requests\n' })
    expect((await approvals('list', '--session', 'unknown')).code).toBe(3)
    expect((await approvals('list', '--cursor', 'x y')).code).toBe(2)
    expect((await approvals('list', '--limit', '0')).code).toBe(2)
  })
})

describe('helix approvals show', () => {
  it('shows what would run and what it changes', async () => {
    const body = '@@ -1 +1 @@\n-old\n+new'
    const preview = { title: 'write a.txt', body, format: 'diff', truncated: true } as const
    await waiting('s-1', requestFor('a', { preview, arguments: '{ "path" : "a.txt" }' }))
    const { code, out, err } = await approvals('show', 's-1', 'r-a')
    expect(out).toContain('state     open\n')
    expect(out).toContain('Preview\nwrite a.txt\n  @@ -1 +1 @@\n  -old\n  +new\n')
    expect(out).toContain('Arguments\n{ "path" : "a.txt" }\n')
    expect([code, err]).toEqual([0, 'the preview is cut: the arguments are whole\n'])
    expect(await host.json(['approvals', 'show', 's-1', 'r-a'])).toMatchObject({
      requestId: 'r-a',
      arguments: '{ "path" : "a.txt" }',
    })
  })

  it('cannot be made to control the terminal, or to look like the program', async () => {
    const evil = '\x1b[2J\u202egnp.exe\u200b\r\x07\x9b31m\u2028Arguments'
    const hostile = requestFor('a', {
      requestId: `r-${evil}`,
      agentPath: [evil],
      toolName: evil,
      arguments: `{"a":"${evil}"}`,
      preview: { title: `${evil}\nArguments`, body: `\n\nArguments\n{}${evil}` },
    })
    await waiting('s-1', hostile)
    await host.stateStore.resolveRequest('s-1', hostile.requestId, {
      decision: 'deny',
      reason: evil,
      by: `root\n${evil}`,
      at: ASKED,
    })
    const outputs = await Promise.all([
      approvals('list', '--all'),
      approvals('show', 's-1', hostile.requestId),
      approvals('show', 's-1', hostile.requestId, '--json'),
      approvals('deny', 's-1', hostile.requestId),
    ])
    for (const { out, err } of outputs) expect(`${out}${err}`).not.toMatch(DANGEROUS)
    const shown = outputs[1].out.split('\n')
    expect(shown.filter((line) => line === 'Arguments')).toHaveLength(1)
    expect(shown.at(-2)).toMatch(/^\{"a":/)
  })
})

describe('helix approvals approve and deny', () => {
  it('stores the answer and says who goes on', async () => {
    await waiting('s-1', requestFor('a'), requestFor('b'))
    const yes = await approvals('approve', 's-1', 'r-a', '--by', 'ada', '--reason', 'fine')
    expect(yes).toEqual({
      code: 0,
      out: 'approve: git push\n',
      err: 'stored: the process that hosts the session resumes it\n',
    })
    const no = await host.run(['approvals', 'deny', 's-1', 'r-b', '--reason', 'no', '--json'])
    expect([no.code, JSON.parse(no.out)]).toMatchObject([0, { isFirst: true }])
    const at = host.clock.now()
    const requests = await host.stateStore.loadRequests('s-1')
    expect(requests.map(({ resolution }) => resolution)).toEqual([
      { decision: 'approve', reason: 'fine', by: 'ada', at },
      { decision: 'deny', reason: 'no', at },
    ])
    expect(host.written).toEqual(['helix.db', 'helix.db'])
  })

  it('keeps edited arguments byte for byte, and what is remembered', async () => {
    await waiting('s-1', requestFor('a'), requestFor('b'), requestFor('c'))
    const directory = mkdtempSync(join(tmpdir(), 'helix-cli-'))
    onTestFinished(() => rmSync(directory, { recursive: true }))
    const file = join(directory, 'input.json')
    writeFileSync(file, '{ "command" : "git status", "n": 1.0 }\n')
    await approvals('approve', 's-1', 'r-a', '--input', file)
    host.input = '{"command":"ls"}'
    expect((await approvals('approve', 's-1', 'r-b', '--input', '-', '--remember')).code).toBe(2)
    await approvals('approve', 's-1', 'r-b', '--input', '-')
    await approvals('approve', 's-1', 'r-c', '--remember')
    const requests = await host.stateStore.loadRequests('s-1')
    const at = host.clock.now()
    expect(requests.map(({ resolution }) => resolution)).toEqual([
      {
        decision: 'approve',
        editedArguments: '{ "command" : "git status", "n": 1.0 }\n',
        at,
      },
      { decision: 'approve', editedArguments: '{"command":"ls"}', at },
      { decision: 'approve', remember: 'session', at },
    ])
  })

  it('does not replay: the first answer counts', async () => {
    await waiting('s-1', requestFor('a'), requestFor('b', { expiresAt: 999_999 }))
    await approvals('deny', 's-1', 'r-a', '--by', 'ada')
    const again = await approvals('approve', 's-1', 'r-a', '--by', 'eve')
    expect([again.code, again.out]).toEqual([1, ''])
    expect(again.err).toMatch(/^not stored: it was decided before: deny by ada, /)
    const late = await approvals('approve', 's-1', 'r-b')
    expect([late.code, late.err]).toEqual([1, expect.stringContaining('expired')])
    const [a, b] = await host.stateStore.loadRequests('s-1')
    expect([a?.resolution?.by, b?.resolution?.decision]).toEqual(['ada', 'expired'])
  })

  it('answers no request of another session, and none that is guessed', async () => {
    await waiting('s-1', requestFor('a'))
    await waiting('s-2', requestFor('b'))
    for (const [session, request] of [
      ['s-2', 'r-a'],
      ['s-1', 'r-b'],
      ['s-1', 'r'],
      ['s-1', '%'],
      ['s-1', ''],
      ['unknown', 'r-a'],
      ['s-1', 'x'.repeat(5000)],
    ] as const) {
      for (const command of ['show', 'approve', 'deny']) {
        const { code, out } = await approvals(command, session, request)
        expect([code, out]).toEqual([3, ''])
      }
    }
    const open = await host.stateStore.listRequests({ now: ASKED, state: 'open' })
    expect(open.items).toHaveLength(2)
  })

  it('leaves the request open when the input is none', async () => {
    await waiting('s-1', requestFor('a'), requestFor('q', { kind: 'question' }))
    host.input = '{"command":'
    for (const input of ['-', '/no/such/file', tmpdir()]) {
      const { code, err } = await approvals('approve', 's-1', 'r-a', '--input', input)
      expect([code, err]).toEqual([2, expect.stringContaining('--input')])
    }
    const question = await approvals('approve', 's-1', 'r-q')
    expect([question.code, question.err]).toEqual([2, expect.stringContaining('a question')])
    const open = await host.stateStore.listRequests({ now: ASKED, state: 'open' })
    expect(open.items).toHaveLength(2)
    expect((await approvals('deny', 's-1', 'r-q')).code).toBe(0)
  })

  it('rejects what no store keeps', async () => {
    await waiting('s-1', requestFor('a'))
    const { code, err } = await approvals('deny', 's-1', 'r-a', '--by', 'x'.repeat(2000))
    expect([code, err]).toEqual([2, expect.stringContaining('not-storable')])
    const long = await approvals('deny', 's-1', 'r-a', '--reason', 'x'.repeat(10_001))
    expect([long.code, long.err]).toEqual([2, expect.stringContaining('--reason')])
  })
})
