import { describe, expect, test } from 'vitest'
import { defineTool, HelixError, PolicyError, type Tool } from '@helix-agents/core'
import * as z from 'zod'
import { AgentPermissions, strictest } from '../../src/permissions/agent-permissions.ts'
import { permissionDenied, permissionsOf, subjectOf } from '../../src/permissions/decide-call.ts'
import {
  describeRule,
  type PermissionRule,
  type PermissionVerdict,
  subjectKey,
  type TouchedPath,
} from '../../src/permissions/permission-rule.ts'
import { basisHolds, previewCall } from '../../src/permissions/preview-call.ts'
import { checkPermissions } from '../../src/permissions/check-rules.ts'
import { factsOf, isAbout } from '../../src/permissions/tool-facts.ts'
import { StubAgent } from '../tools/stub-context.ts'

const facts = { name: 't', hasCommand: true, hasPaths: true }
const subject = { toolName: 't' }
const plain = defineTool({
  name: 't',
  description: '',
  inputSchema: z.object({}),
  execute: () => 1,
})
const { context } = new StubAgent({}, {})

const byPath = (path: string, ...paths: readonly TouchedPath[]) =>
  new AgentPermissions([{ decision: 'ask', path }]).decide(facts, { ...subject, paths }).decision

describe('rules on paths', () => {
  test('what lies below counts for a tree alone', () => {
    expect(byPath('/a/b/**', { path: '/a' })).toBe('allow')
    expect(byPath('/a/b/**', { path: '/a', isTree: false })).toBe('allow')
    expect(byPath('/a/b/**', { path: '/a', isTree: true })).toBe('ask')
    expect(byPath('/a/b/**', { path: '/a/b/c' })).toBe('ask')
    expect(byPath('/a/b/**')).toBe('allow')
    expect(byPath('/b', { path: '/a' }, { path: '/b' })).toBe('ask')
  })

  test('a path counts as it is written and in lower case, and so does the rule', () => {
    expect(byPath('/[A-_]', { path: '/_' })).toBe('ask')
    expect(byPath('/[!a]', { path: '/A' })).toBe('ask')
    expect(byPath('/[!a]', { path: '/a' })).toBe('allow')
    expect(byPath('/ABC', { path: '/abc' })).toBe('ask')
    expect(byPath('/abc', { path: '/ABC' })).toBe('ask')
    expect(byPath('/\u00C9', { path: '/e\u0301' })).toBe('ask')
  })
})

const deny: PermissionRule = { decision: 'deny', tool: 't' }
const ask: PermissionRule = { decision: 'ask', tool: 't' }
const allow: PermissionRule = { decision: 'allow', tool: 't' }

const verdictOf = (rule: PermissionRule): PermissionVerdict => ({ decision: rule.decision, rule })

test('the strictest verdict counts, of equal ones the first that names a rule', () => {
  const none: PermissionVerdict = { decision: 'allow' }
  expect(strictest([])).toEqual(none)
  expect(strictest([none, verdictOf(allow)])).toEqual(verdictOf(allow))
  expect(strictest([verdictOf(allow), none])).toEqual(verdictOf(allow))
  expect(strictest([verdictOf(ask), verdictOf(allow)])).toEqual(verdictOf(ask))
  expect(strictest([verdictOf(ask), verdictOf(deny), verdictOf(ask)])).toEqual(verdictOf(deny))
  const other = { ...ask, workspace: 'w' }
  expect(strictest([verdictOf(other), verdictOf(ask)])).toEqual(verdictOf(other))
})

test('a command that cannot be taken apart falls under the strongest rule on commands', () => {
  const decide = (decision: PermissionRule['decision']) =>
    new AgentPermissions([{ decision, command: 'git *' }]).decide(facts, {
      ...subject,
      command: 'ls $(x)',
    })
  expect(decide('deny')).toEqual({
    decision: 'deny',
    rule: { decision: 'deny', command: 'git *' },
    detail: 'the command cannot be taken apart: it substitutes something',
  })
  expect(decide('ask')).toMatchObject({ decision: 'ask' })
  expect(decide('allow')).toEqual({ decision: 'allow' })
  const alone = new AgentPermissions([{ decision: 'ask', command: 'git *' }])
  expect(alone.decide(facts, subject)).toEqual({ decision: 'allow' })
})

test('a tool that is denied as such needs no look at its call', () => {
  const rules = new AgentPermissions([deny, { decision: 'ask', path: '/a' }])
  expect(rules.decide(facts, { ...subject, paths: [{ path: '/a' }] })).toEqual({
    decision: 'deny',
    rule: deny,
  })
  expect([rules.needsPaths(facts), rules.needsPaths({ ...facts, name: 'u' })]).toEqual([true, true])
  expect(new AgentPermissions([deny]).needsPaths(facts)).toBe(false)
})

const text = (verdict: PermissionVerdict) => {
  const { code, message, hint } = permissionDenied(verdict)
  return [code, message, hint]
}

test('rules in words, and what the model reads of a denial', () => {
  expect(
    describeRule({ decision: 'ask', command: 'git *', path: '/a', tool: 'run', workspace: 'box' }),
  ).toBe('ask: command "git *", path "/a", tool run, workspace box')
  expect(text({ decision: 'deny' })).toEqual([
    'denied',
    'The rules of this agent do not allow this call.',
    'Asking again changes nothing: go on another way.',
  ])
  expect(text({ decision: 'deny', rule: deny, detail: 'a reason' })).toEqual([
    'denied',
    'The rules of this agent do not allow this call (deny: tool t): a reason.',
    'Give plain commands, one in each call: no substitutions, variables, here documents, comments or code in arguments.',
  ])
})

const key = (more: object) =>
  JSON.parse(subjectKey({ ...subject, workspace: 'w', ...more }, 'args'))

test('what a session remembers is the tool with its paths, else with its arguments', () => {
  expect(key({})).toEqual({ toolName: 't', workspace: 'w', args: 'args' })
  expect(key({ command: 'ls', paths: [] })).toEqual({ toolName: 't', workspace: 'w', args: 'args' })
  expect(
    key({ paths: [{ path: '/b', isTree: true }, { path: '/a' }, { path: '/a' }, { path: '/b' }] }),
  ).toEqual({
    toolName: 't',
    workspace: 'w',
    paths: ['/a', '/b', '/b/'],
  })
})

test('rules are compiled once for an agent, and not at all without any', () => {
  const permissions = [deny]
  expect(permissionsOf({ permissions })).toBe(permissionsOf({ permissions }))
  expect(permissionsOf({ permissions: [] })).toBeUndefined()
  expect(permissionsOf({})).toBeUndefined()
})

test('facts of a tool that says nothing of them, and which rules are about it', () => {
  expect(factsOf(plain)).toEqual({ name: 't', hasCommand: false, hasPaths: false })
  expect(subjectOf({ tool: plain, input: {} })).toEqual({ toolName: 't' })
  const tool = { ...facts, name: 'workspace__w__run', shortName: 'run', workspace: 'w' }
  const about = (rule: object) => isAbout({ decision: 'ask', ...rule }, tool)
  expect([about({}), about({ tool: 'run' }), about({ tool: tool.name, workspace: 'w' })]).toEqual([
    true,
    true,
    true,
  ])
  expect([
    about({ tool: 'rm' }),
    about({ workspace: 'v' }),
    about({ tool: 'run', workspace: 'v' }),
  ]).toEqual([false, false, false])
})

const tools = () => [facts]
const rules = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ decision: 'ask', command: `p${index}` }))

test('there may be a thousand rules', () => {
  expect(checkPermissions(rules(1000), tools)).toEqual([])
  expect(checkPermissions(rules(1001), tools)).toEqual(['permissions has more than 1000 rules'])
  expect(checkPermissions(undefined, tools)).toEqual([])
})

const withBasis = (now: unknown, preview?: () => unknown): Tool =>
  ({
    ...plain,
    permission: {
      facts: { ...facts, shortName: 'short' },
      subject: () => ({ ...subject, paths: [{ path: '/a' }, { path: '/b' }] }),
      resolve: async (given: unknown) => given,
      basis: async () => now,
      preview: async () => preview?.(),
    },
  }) as unknown as Tool

const holds = (now: unknown, before: unknown) =>
  basisHolds({ tool: withBasis(now), input: {}, access: context }, before as never)

test('a basis holds as long as each of its files is as it was', async () => {
  expect(await holds({ '/a': 'x', '/b': null }, { '/b': null, '/a': 'x' })).toBe(true)
  expect(await holds({ '/a': 'x' }, { '/a': 'y' })).toBe(false)
  expect(await holds({ '/a': 'x' }, { '/b': 'x' })).toBe(false)
  expect(await holds({ '/a': 'x', '/b': 'x' }, { '/a': 'x' })).toBe(false)
  expect(await holds(undefined, {})).toBe(true)
  expect(await holds({}, [])).toBe(false)
  expect(await holds({}, null)).toBe(false)
  expect(await holds({}, '')).toBe(false)
  expect(await basisHolds({ tool: plain, input: {}, access: context }, {})).toBe(true)
})

const failing = (error: Error) =>
  withBasis({ '/a': 'x' }, () => {
    throw error
  })

const shown = (tool: Tool, limits?: object, args = '{"a":1}') =>
  previewCall({ tool, input: {}, access: context, args }, limits)

const made = (preview: object) => withBasis({ '/a': 'x' }, () => preview)

describe('a preview', () => {
  test('of a tool that makes none is its arguments', async () => {
    expect(await shown(plain)).toEqual({ title: 't', body: '{\n  "a": 1\n}', format: 'json' })
    expect(await shown(plain, {}, 'no json')).toEqual({
      title: 't',
      body: 'no json',
      format: 'json',
    })
    expect(await shown(withBasis({}, () => undefined))).toEqual({
      title: 'short /a /b',
      body: '{\n  "a": 1\n}',
      format: 'json',
      basis: {},
    })
    const long = `[${'1,'.repeat(24_998)}11]`
    expect((await shown(plain, { bodyCharacters: 5 }, long)).body).toBe('[\n  1')
    expect((await shown(plain, { bodyCharacters: 5 }, ` ${long}`)).body).toBe(' [1,1')
  })

  test('keeps its format, says when it is cut, and has its basis', async () => {
    expect(await shown(made({ title: 'x', body: 'y', format: 'diff' }))).toEqual({
      title: 'x',
      body: 'y',
      format: 'diff',
      basis: { '/a': 'x' },
    })
    expect(await shown(made({ title: 'x' }))).toEqual({ title: 'x', basis: { '/a': 'x' } })
    expect(await shown(made({ title: 'x', body: 'y', truncated: true }))).toMatchObject({
      format: 'text',
      truncated: true,
    })
    expect(await shown(made({ title: 'x', body: 'yyyy' }), { bodyCharacters: 3 })).toMatchObject({
      body: 'yyy',
      truncated: true,
    })
    expect(await shown(made({ title: 'x', body: 'y'.repeat(20_000) }))).not.toHaveProperty(
      'truncated',
    )
    expect(await shown(made({ title: 'x', body: 'y'.repeat(20_001) }))).toMatchObject({
      truncated: true,
    })
  })

  test('has a title of 200 characters; a longer one is whole in the body', async () => {
    const title = 'x'.repeat(201)
    expect((await shown(made({ title: title.slice(1) }))).title).toBe(title.slice(1))
    const cut = `${'x'.repeat(199)}…`
    expect(await shown(made({ title }))).toMatchObject({ title: cut, body: title, format: 'text' })
    expect(await shown(made({ title, body: 'b' }))).toMatchObject({
      title: cut,
      body: `${title}\n\nb`,
    })
    expect(await shown(made({ title, body: `b ${title}` }))).toMatchObject({ body: `b ${title}` })
    expect(await shown(made({ title, body: 'b', format: 'diff' }))).toMatchObject({ body: 'b' })
  })

  test('of a call that fails says why; another failure ends it', async () => {
    expect(await shown(failing(new PolicyError('denied', 'not allowed')))).toEqual({
      title: 'short /a /b: as things are, the call fails: not allowed',
      body: '{\n  "a": 1\n}',
      format: 'json',
      basis: { '/a': 'x' },
    })
    const other = new Error('disk')
    expect(HelixError.isInstance(other)).toBe(false)
    await expect(shown(failing(other))).rejects.toBe(other)
  })
})
