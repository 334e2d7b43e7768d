// What is known of a call before its turn, and how its turn decides: by its tool, its function, its rules.
import { askUserTool, defineAgent, defineTool, type PermissionRule } from '@helix-agents/core'
import { permissionsOf } from '@helix-agents/core/runtime'
import { InMemoryWorkspaceProvider } from '@helix-agents/workspace-memory'
import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { ToolSets } from '../../src/call/tool-sets.ts'
import type { Run } from '../../src/ports.ts'
import { assertNotDenied, mustAsk, parseCall } from '../../src/request/decide-call.ts'
import { forecastAsk, type GatedCall, isGated } from '../../src/request/gated-call.ts'

const toolOf = (more: object = {}) =>
  defineTool({
    name: 'send',
    description: '',
    inputSchema: z.object({ to: z.string() }),
    execute: () => 'sent',
    ...more,
  })
const plain = toolOf()
const callTo = (more: object = {}) => ({ id: 'a', name: 'send', arguments: { to: 'ada' }, ...more })

const provider = new InMemoryWorkspaceProvider()
const config = {
  name: 'a',
  llmConfig: { model: {} },
  tools: [plain, toolOf({ name: 'other' })],
  workspaces: { box: { provider: { kind: provider.providerId }, capabilities: { fs: true } } },
}
function runOf(...permissions: readonly PermissionRule[]): Run {
  const agent = defineAgent({ ...config, ...(permissions.length > 0 && { permissions }) })
  const rules = [permissionsOf(agent) ?? []].flat()
  const control = { signal: new AbortController().signal }
  return { requests: { rules }, control, runId: 'r' } as unknown as Run
}

const { tools } = new ToolSets(new Map([[provider.providerId, provider]])).of(defineAgent(config))
const write = tools.byName.get('workspace__box__write_file')!
const sends = { decision: 'ask', tool: 'send' } as const
const denies = { decision: 'deny', tool: 'send' } as const

test.each<readonly [string, object, readonly PermissionRule[], boolean]>([
  ['a tool that asks for nothing', {}, [], false],
  ['one that says so', { needsApproval: false }, [], false],
  ['one that needs an approval', { needsApproval: true }, [], true],
  ['one whose function decides', { needsApproval: () => false }, [], true],
  ['any under rules', {}, [denies], true],
])('%s may be asked about: %o', (_, more, rules, expected) => {
  expect(isGated(runOf(...rules), toolOf(more))).toBe(expected)
})

test('a question may be asked about', () => {
  expect(isGated(runOf(), askUserTool())).toBe(true)
})

describe('before its turn', () => {
  test.each<readonly [string, object, readonly PermissionRule[], string]>([
    ['a tool that asks for nothing', {}, [], 'never'],
    ['one that needs an approval', { needsApproval: true }, [], 'certainly'],
    ['one that needs it, which a rule denies', { needsApproval: true }, [denies], 'certainly'],
    ['one whose function decides', { needsApproval: () => true }, [], 'maybe'],
    ['one that a rule asks about', {}, [sends], 'certainly'],
    [
      'one that a rule and a function ask about',
      { needsApproval: () => true },
      [sends],
      'certainly',
    ],
    ['one that a rule denies', {}, [denies], 'never'],
    [
      'one that a rule denies and a function asks about',
      { needsApproval: () => true },
      [denies],
      'maybe',
    ],
    ['one of two rules asks', {}, [{ decision: 'ask', tool: 'other' }, sends], 'certainly'],
    ['one that no rule is about', {}, [{ decision: 'ask', tool: 'other' }], 'never'],
  ])('%s: %s', async (_, more, rules, expected) => {
    expect(await forecastAsk(runOf(...rules), toolOf(more), callTo())).toBe(expected)
  })

  test('a question is asked certainly', async () => {
    const call = callTo({ name: 'ask_user', arguments: { question: 'Which?' } })
    expect(await forecastAsk(runOf(), askUserTool(), call)).toBe('certainly')
  })

  test('what depends on where a path leads is not known', async () => {
    const call = callTo({ name: write.name, arguments: { path: '/a', content: '' } })
    const path = { decision: 'ask', path: '/a' } as const
    expect(await forecastAsk(runOf(path), write, call)).toBe('maybe')
    // One rule that needs no path does not make it known.
    expect(await forecastAsk(runOf({ decision: 'ask', tool: 'other' }, path), write, call)).toBe(
      'maybe',
    )
  })

  test.each([
    [{}, 'never'],
    [{ needsApproval: () => true }, 'maybe'],
  ])('a call that cannot be read is not asked about by rules: %o', async (more, expected) => {
    const tool = toolOf(more)
    const unread = callTo({ problem: 'malformed' })
    expect(await forecastAsk(runOf(sends), tool, unread)).toBe(expected)
    expect(await forecastAsk(runOf(sends), tool, callTo({ arguments: { to: 7 } }))).toBe(expected)
  })
})

const gatedBy = (tool: GatedCall['tool'], call: object = {}): GatedCall => ({
  tool,
  call: callTo(call),
  index: 0,
  isRecovered: false,
  isJournaled: false,
  asks: false,
  isBlocked: false,
})

const decide = async (more: object, ...rules: readonly PermissionRule[]) => {
  const run = runOf(...rules)
  return mustAsk(run, await parseCall(run, gatedBy(toolOf(more))))
}

const never = () => new Promise<boolean>(() => {})

describe('in its turn', () => {
  test.each<readonly [string, object, readonly PermissionRule[], boolean]>([
    ['nothing asks', {}, [], false],
    ['the tool asks', { needsApproval: true }, [], true],
    ['the tool does not ask, a rule does', { needsApproval: false }, [sends], true],
    ['a function asks', { needsApproval: ({ to }: { to: string }) => to === 'ada' }, [], true],
    ['a function does not', { needsApproval: async () => false }, [], false],
    ['a function does not, a rule does', { needsApproval: () => false }, [sends], true],
    ['a rule is about others', {}, [{ decision: 'ask', tool: 'other' }], false],
  ])('%s', async (_, more, rules, expected) => {
    expect(await decide(more, ...rules)).toBe(expected)
  })

  test('a question is asked', async () => {
    const run = runOf()
    const gated = gatedBy(askUserTool(), { arguments: { question: 'Which?' } })
    expect(await mustAsk(run, await parseCall(run, gated))).toBe(true)
  })

  test('what a rule denies, no function is asked about', async () => {
    let isAsked = false
    const needsApproval = () => (isAsked = true)
    await expect(decide({ needsApproval }, denies)).rejects.toMatchObject({ code: 'denied' })
    expect(isAsked).toBe(false)
  })

  test('a function that fails has not decided; why is told to the operator only', async () => {
    const cause = new Error('secret')
    const failing = decide({ needsApproval: () => Promise.reject(cause) })
    await expect(failing).rejects.toMatchObject({
      code: 'tool-failed',
      message: 'Whether a person must approve this call could not be decided: it was not run.',
      cause,
    })
  })

  test('a run that is stopped waits for no function and no schema', async () => {
    const stop = new AbortController()
    const run = { ...runOf(), control: { signal: stop.signal } } as unknown as Run
    const parsed = await parseCall(run, gatedBy(toolOf({ needsApproval: never })))
    const deciding = mustAsk(run, parsed)
    const endless = toolOf({ inputSchema: z.object({}).refine(never) })
    const parsing = parseCall(run, gatedBy(endless))
    stop.abort(new Error('stopped'))
    await expect(deciding).rejects.toMatchObject({ code: 'tool-failed' })
    await expect(parsing).rejects.toThrow('stopped')
  })

  test('arguments are those of the call, or those that are given instead', async () => {
    const run = runOf()
    expect((await parseCall(run, gatedBy(plain))).input).toEqual({ to: 'ada' })
    expect((await parseCall(run, gatedBy(plain), { to: 'bob' })).input).toEqual({ to: 'bob' })
    await expect(parseCall(run, gatedBy(plain, { arguments: {} }))).rejects.toMatchObject({
      code: 'invalid-input',
    })
  })

  test('without rules nothing is denied', async () => {
    const run = runOf()
    const verdict = await assertNotDenied(run, await parseCall(run, gatedBy(plain)))
    expect(verdict).toEqual({ decision: 'allow' })
  })
})
