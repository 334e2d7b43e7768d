import type { Message } from '@helix-agents/core'
import { beforeEach, describe, expect, it } from 'vitest'
import { TestHost } from '../../test-host.ts'
import { addSession } from './sample-sessions.ts'

let host: TestHost
beforeEach(() => {
  host = new TestHost()
})

async function idsOf(...args: string[]) {
  const { items } = await host.json(['sessions', 'list', ...args])
  return (items as { sessionId: string }[]).map(({ sessionId }) => sessionId)
}

const failed = (code: string) =>
  ({
    role: 'tool',
    toolCallId: 'c',
    toolName: 'workspace__box__ls',
    content: `Error [${code}]: it cannot be used`,
    isError: true,
  }) as const
const worked = { ...failed('x'), content: 'a.txt', isError: false }
const done = { status: 'completed', workspaces: ['box'] } as const

describe('helix sessions list, by what is wrong with a workspace', () => {
  it('finds sessions whose workspace failed, though they completed', async () => {
    const add = (sessionId: string, ...messages: Message[]) =>
      addSession(host.stateStore, { ...done, sessionId, messages })
    await add('s-version', failed('ref-version'))
    await add('s-late', worked, failed('open-timeout'))
    await add('s-again', failed('open-timeout'), worked)
    await add('s-other', failed('too-large'))
    const error = { name: 'WorkspaceFailedError', code: 'config-invalid', message: 'no' }
    await addSession(host.stateStore, { sessionId: 's-eager', status: 'failed', end: { error } })
    expect(await idsOf('--status', 'failed')).toEqual(['s-eager'])
    expect(await idsOf('--workspace-error', 'any')).toEqual(['s-eager', 's-late', 's-version'])
    expect(await idsOf('--workspace-error', 'ref-version')).toEqual(['s-version'])
    const { out } = await host.run(['sessions', 'list', '--workspace-error', 'open-timeout'])
    expect(out).toMatch(/WORKSPACE ERROR\ns-late .* box: open-timeout\n$/)
    const { code } = await host.run(['sessions', 'list', '--workspace-error', 'too-large'])
    expect(code).toBe(2)
  })
  it('finds sessions by the version of a ref, and those that owe a close', async () => {
    await addSession(host.stateStore, { ...done, sessionId: 's-1', end: { owed: ['box'] } })
    await addSession(host.stateStore, { ...done, sessionId: 's-2' })
    await addSession(host.stateStore, { sessionId: 's-3', status: 'completed' })
    expect(await idsOf('--ref-version', '1')).toEqual(['s-2', 's-1'])
    expect(await idsOf('--ref-version', '2')).toEqual([])
    expect(await idsOf('--owed')).toEqual(['s-1'])
  })
  it('looks at so many, says so, and goes on from there', async () => {
    await addSession(host.stateStore, { ...done, sessionId: 'oldest', end: { owed: ['box'] } })
    for (let i = 0; i < 30; i += 1) await addSession(host.stateStore, { sessionId: `s-${i}` })
    const args = ['sessions', 'list', '--owed', '--scan', '20']
    const first = (await host.json(args)) as { nextCursor: string; stoppedAfter: number }
    expect(first).toMatchObject({ items: [], stoppedAfter: 20 })
    expect((await host.run(args)).err).toContain('stopped after 20 sessions (--scan)\n')
    expect(await idsOf('--owed', '--scan', '20', '--cursor', first.nextCursor)).toEqual(['oldest'])
  })
})
