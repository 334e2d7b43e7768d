// Who may use a session, for which agent, and until when.
import { describe, expect, test } from 'vitest'
import type { Caller } from '../../src/route/caller.ts'
import {
  assertMayWrite,
  maySee,
  openAccess,
  reopenAccess,
} from '../../src/server/session-access.ts'
import { agent, codeOf, other, setup } from './recording-host.ts'

describe('a session', () => {
  test.each<readonly [Caller, string | undefined, boolean]>([
    [{}, undefined, true],
    [{ userId: 'u' }, undefined, true],
    [{}, 'u', false],
    [{ userId: 'u' }, 'u', true],
    [{ userId: 'v' }, 'u', false],
    [{ userId: 'v', isOperator: true }, 'u', true],
    [{ userId: 'v', isOperator: false }, 'u', false],
  ])('is for the caller %o when its owner is %s: %s', async (caller, owner, is) => {
    const { host, open } = setup({
      status: 'completed',
      caller,
      ...(owner !== undefined && { owner }),
    })
    expect(await codeOf(open())).toBe(is ? 'done' : 'not-found: there is no such session')
    expect(await maySee(host, { caller })).toBe(is)
    expect(await maySee(host, { caller, agent: 'a' })).toBe(is)
    expect(await maySee(host, { caller, agent: 'b' })).toBe(false)
  })

  test('has one agent: the one that is named, its own, or the only one', async () => {
    const both = setup({ agents: [agent, other] })
    expect(await codeOf(both.open())).toBe('not-found: there is no such agent')
    const named = await openAccess(both.host, { caller: {}, agent: 'b' })
    expect([named.agent.name, named.session]).toEqual(['b', null])
    expect(await codeOf(openAccess(both.host, { caller: {}, agent: 'c' }))).toContain(
      'no such agent',
    )
    both.state.status = 'completed'
    expect((await both.open()).agent.name).toBe('a')
    expect(await codeOf(openAccess(both.host, { caller: {}, agent: 'b' }))).toContain(
      'no such session',
    )
    expect((await setup().open()).agent.name).toBe('a')
    expect(await maySee(setup().host, { caller: {} })).toBe(false)
  })

  test('is not there while it is deleted, and is another one after that', async () => {
    const { open, state, host } = setup({ status: 'completed' })
    const access = await open()
    expect((await reopenAccess(access)).session).toEqual(access.session)
    state.erasures += 1
    expect(await codeOf(reopenAccess(access))).toContain('no such session')
    const none = { ...access, session: null, erasures: 0, host }
    expect((await reopenAccess(none)).session).toEqual(access.session)
    state.isErasing = true
    await expect(open()).rejects.toThrow('it is being deleted')
  })

  test('is not changed by who only reads', () => {
    const read = { action: 'state', isWrite: false } as const
    const write = { action: 'start', isWrite: true } as const
    assertMayWrite({}, write)
    assertMayWrite({ isReadOnly: false }, write)
    assertMayWrite({ isReadOnly: true }, read)
    expect(() => assertMayWrite({ isReadOnly: true }, write)).toThrow(
      expect.objectContaining({
        status: 403,
        code: 'read-only',
        message: 'the caller may only read',
      }),
    )
  })
})
