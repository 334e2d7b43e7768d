// What becomes of a call that was asked about, when it comes to its turn: it starts, it is refused, or it waits on.
import { createSubAgentTool, defineAgent } from '@helix-agents/core'
import type { SessionRequest } from '@helix-agents/core/runtime'
import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { requestOf } from '../../src/request/admit-call.ts'
import { approved, NOW, send, started, worldOf } from './call-world.ts'

describe('with a request', () => {
  test('that is open it waits, and nobody is told again', async () => {
    const { admit, stored, chunks } = worldOf({ known: {} })
    expect([await admit(), chunks]).toEqual([{ type: 'waiting' }, []])
    expect(stored).toEqual([['remembered?', 'root', 'digest']])
  })

  test.each<readonly [Partial<SessionRequest>]>([
    [{ subject: undefined as never }],
    [{ kind: 'question' }],
  ])('that can be approved for one call only, nobody looks for another: %j', async (known) => {
    const { admit, stored } = worldOf({ known, isRemembered: true })
    expect([await admit(), stored]).toEqual([{ type: 'waiting' }, []])
  })

  test('of other arguments or another tool it is asked about anew', () => {
    const same = worldOf({ known: {} })
    expect(requestOf(same.run, same.gated)).toBe(same.requests.byCall.get('c'))
    for (const known of [{ arguments: '{"to":"bob"}' }, { toolName: 'other' }]) {
      const { run, gated } = worldOf({ known })
      expect(requestOf(run, gated)).toBeUndefined()
    }
  })

  test.each([
    [NOW + 1, { type: 'waiting' }],
    [NOW, { type: 'rejected', error: { code: 'request-expired' }, wasAsked: true }],
  ])('whose time ends at %d: %j', async (expiresAt, expected) => {
    const { admit, stored, requests, chunks } = worldOf({ known: { expiresAt } })
    expect(await admit()).toMatchObject(expected)
    const isOver = expiresAt === NOW
    const resolution = { decision: 'expired', at: NOW }
    expect(stored[0]).toEqual(
      isOver ? ['resolve', 'root', 'r', resolution] : ['remembered?', 'root', 'digest'],
    )
    expect(requests.byCall.get('c')?.resolution).toEqual(isOver ? resolution : undefined)
    expect(chunks).toHaveLength(isOver ? 1 : 0)
  })

  test('that was answered in time, its time is no matter', async () => {
    const known = { expiresAt: NOW - 5, resolution: approved }
    expect(await worldOf({ known }).admit()).toEqual(started)
  })

  test.each<readonly [object, object, object]>([
    [
      { decision: 'deny', reason: 'not now', by: 'ada' },
      { decision: 'deny', reason: 'not now', by: 'ada' },
      {
        code: 'denied',
        message: 'The user denied this call, it was not run: not now',
        hint: 'Do not make the same call again. Go on another way, or ask what is wanted instead.',
      },
    ],
    [
      { decision: 'deny' },
      { decision: 'deny' },
      { code: 'denied', message: 'The user denied this call, it was not run' },
    ],
    [
      { decision: 'cancelled' },
      { decision: 'cancelled' },
      {
        code: 'denied',
        message: 'The question about this call was withdrawn: it was not run.',
      },
    ],
    [
      { decision: 'expired' },
      { decision: 'expired' },
      {
        code: 'request-expired',
        message: 'Nobody approved this call in time: it was not run.',
        hint: 'Go on without it, or ask again when it is still needed.',
      },
    ],
  ])('that was answered so, %j, it does not start', async (answer, told, error) => {
    const { admit, chunks } = worldOf({ known: { resolution: { ...answer, at: 1 } as never } })
    expect(await admit()).toMatchObject({ type: 'rejected', error, wasAsked: true })
    expect(chunks).toEqual([['approval_resolved', { requestId: 'r', toolCallId: 'c', ...told }]])
  })

  test('that has an output, that is its result', async () => {
    const resolution = { decision: 'output', output: { a: 1 }, at: 1 } as const
    const { admit, chunks } = worldOf({ known: { resolution } })
    expect(await admit()).toEqual({ type: 'answered', output: { a: 1 } })
    expect(chunks).toHaveLength(1)
  })
})

describe('that was approved', () => {
  test('a call starts once it is stored that it does, and is told then', async () => {
    const { admit, stored, chunks, requests, write } = worldOf({ known: { resolution: approved } })
    requests.blocked.add('r')
    expect(await admit()).toEqual(started)
    expect(stored).toEqual([['start', { ...write, requestId: 'r' }]])
    expect(requests.blocked.size).toBe(0)
    expect(requests.byCall.get('c')).toMatchObject({ requestId: 'r', startedAt: NOW })
    const told = { requestId: 'r', toolCallId: 'c', decision: 'approve' }
    expect(chunks).toEqual([['approval_resolved', told]])
  })

  test('one behind a call that waits is remembered as such, and does not start', async () => {
    const { admit, stored, chunks, requests } = worldOf({
      known: { resolution: approved },
      gated: { isBlocked: true },
    })
    expect(await admit()).toEqual({ type: 'waiting' })
    expect([stored, chunks, [...requests.blocked]]).toEqual([[], [], ['r']])
  })

  test('with other arguments it starts with those', async () => {
    const resolution = { ...approved, editedArguments: '{"to":"bob"}' }
    expect(await worldOf({ known: { resolution } }).admit()).toEqual({
      type: 'start',
      arguments: { to: 'bob' },
      isEdited: true,
    })
  })

  test('and was started before, it is not started again', async () => {
    const { admit, chunks } = worldOf({ known: { resolution: approved }, mayStart: false })
    expect(await admit()).toMatchObject({
      type: 'rejected',
      error: { code: 'outcome-unknown', message: 'This call was started before.' },
      wasAsked: true,
    })
    expect(chunks).toEqual([])
    const other = worldOf({ known: { resolution: approved, startedAt: 5 } })
    await other.admit()
    expect(other.stored).toHaveLength(1)
  })

  test('the call of a sub-agent that was started goes on', async () => {
    const child = defineAgent({ name: 'child', llmConfig: { model: {} } })
    const tool = { ...createSubAgentTool(child, z.object({ to: z.string() })), needsApproval: true }
    const of = { tool, known: { toolName: tool.name, resolution: approved } }
    const first = worldOf(of)
    expect(await first.admit()).toEqual(started)
    expect(first.stored).toHaveLength(1)
    const again = worldOf({ ...of, known: { ...of.known, startedAt: 5 } })
    expect(await again.admit()).toEqual(started)
    expect([again.stored, again.chunks]).toEqual([[], []])
  })

  test('what a rule denies by now is refused, also of other arguments', async () => {
    const rules = [{ decision: 'deny', tool: 'send' }] as const
    const { admit, stored, chunks } = worldOf({ known: { resolution: approved }, rules })
    expect(await admit()).toMatchObject({
      type: 'rejected',
      error: { code: 'denied' },
      wasAsked: true,
    })
    expect(stored).toEqual([])
    expect(chunks).toMatchObject([['approval_resolved', { decision: 'approve' }]])
    const resolution = { ...approved, editedArguments: '{}' }
    expect(await worldOf({ known: { resolution } }).admit()).toMatchObject({
      type: 'rejected',
      error: { code: 'invalid-input' },
      wasAsked: true,
    })
  })

  test('a run that is stopped meanwhile leaves it to the next one', async () => {
    const stop: { now?: () => void } = {}
    const tool = send({
      inputSchema: z.object({ to: z.string() }).refine(() => (stop.now?.(), true)),
    })
    const { admit, control, stored, chunks } = worldOf({ tool, known: { resolution: approved } })
    stop.now = () => control.stop('aborted')
    expect([await admit(), stored, chunks]).toEqual([{ type: 'waiting' }, [], []])
  })
})
