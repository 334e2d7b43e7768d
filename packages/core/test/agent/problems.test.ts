// What is wrong with a definition, word for word.
import {
  AgentDefinitionError,
  askUserTool,
  createSubAgentTool,
  defineAgent,
  defineTool,
  type Tool,
  type ToolContext,
} from '@helix-agents/core'
import { expect, test } from 'vitest'
import * as z from 'zod'

const base = { name: 'a', llmConfig: { model: 'small' } }
const inputSchema = z.object({})
const context = {} as ToolContext
const toolNamed = (name: string, more: object = {}): Tool => ({
  ...defineTool({ name: 'ok', description: '', inputSchema, execute: () => 1 }),
  name,
  ...more,
})

function problemsOf(define: () => unknown): readonly string[] {
  try {
    define()
    return []
  } catch (error) {
    if (AgentDefinitionError.isInstance(error)) return error.problems
    throw error
  }
}

const schemaProblem = 'must be a Standard Schema, such as a zod schema'
const prompt = 'systemPrompt must be a string or a function of the state'
const nameProblem = 'name must match [a-zA-Z][a-zA-Z0-9_-]* and have at most 48 characters'

test.each<readonly [object, readonly string[]]>([
  [{ name: 'a'.repeat(48) }, []],
  [{ name: 'a'.repeat(49) }, [nameProblem]],
  [{ name: 1 }, [nameProblem]],
  [{ tols: [], more: 1 }, ['unknown field tols', 'unknown field more']],
  [{ systemPrompt: 1 }, [prompt]],
  [{ systemPrompt: 'x' }, []],
  [{ systemPrompt: () => 'x' }, []],
  [{ llmConfig: null }, ['llmConfig must be an object with a model']],
  [{ llmConfig: 'x' }, ['llmConfig must be an object with a model']],
  [{ stateSchema: {} }, [`stateSchema ${schemaProblem}`]],
  [{ outputSchema: {} }, [`outputSchema ${schemaProblem}`]],
  [{ outputSchema: z.object({ a: z.bigint() }) }, [expect.stringMatching(/^outputSchema: /)]],
  [{ maxSteps: 1 }, []],
  [{ maxDurationMs: 0.1 }, []],
  [{ prepareStep: 'x' }, ['prepareStep must be a function']],
  [{ prepareStep: () => ({}) }, []],
  [{ approvals: {} }, []],
  [{ approvals: { expiresInMs: 0.1 } }, []],
  [{ approvals: null }, ['approvals must be an object']],
  [{ approvals: 1 }, ['approvals must be an object']],
  [
    { approvals: { expiresInMs: 0, later: 1 } },
    [
      'approvals: unknown field later',
      'approvals.expiresInMs must be a positive number of milliseconds',
    ],
  ],
  [
    { approvals: { expiresInMs: '1' } },
    ['approvals.expiresInMs must be a positive number of milliseconds'],
  ],
  [{ tools: 'none' }, ['tools must be an array']],
  [{ tools: [{}] }, ['every tool needs a name']],
  [{ tools: [toolNamed('x'), toolNamed('x')] }, ['tool x: the name is used twice']],
  [
    { tools: [toolNamed('a b')] },
    ['tool a b: the name must have 1 to 64 characters of [a-zA-Z0-9_-]'],
  ],
  [
    { tools: [toolNamed('workspace__x')] },
    ['tool workspace__x: the prefix workspace__ is reserved for workspace tools'],
  ],
  [
    { tools: [toolNamed('subagent__x')] },
    ['tool subagent__x: the prefix subagent__ is reserved for createSubAgentTool'],
  ],
  [
    { tools: [toolNamed('__finish__')] },
    ['tool __finish__: the name is reserved for the output of an agent'],
  ],
  [{ tools: [toolNamed('x', { parse: 1 })] }, ['tool x: it was not made by defineTool']],
  [{ tools: [toolNamed('x', { execute: 1 })] }, ['tool x: it was not made by defineTool']],
  [
    { tools: [toolNamed('x', { timeoutMs: 0 })] },
    ['tool x: timeoutMs must be a positive number of milliseconds'],
  ],
  [{ tools: [toolNamed('x', { timeoutMs: 0.1 })] }, []],
])('an agent with %o', (config, problems) => {
  expect(problemsOf(() => defineAgent({ ...base, ...config }))).toEqual(problems)
})

const box = (capabilities: object, more: object = {}) => ({
  box: { provider: { kind: 'p' }, capabilities, ...more },
})
const hidden = { pathRules: [{ pattern: '/x', access: 'none' }] }

test.each<readonly [object, readonly string[]]>([
  [{ Box: box({ fs: true }).box }, ['workspace Box: the name must match [a-z][a-z0-9-_]*']],
  [
    box({ fs: hidden, shell: true }),
    ['workspace box: fs.pathRules mean nothing beside a shell without allowedCommands'],
  ],
  [
    box({ fs: hidden, code: true }),
    ['workspace box: fs.pathRules mean nothing beside code, which reads every file'],
  ],
  [box({ fs: hidden }), []],
  [
    { ['n'.repeat(42)]: box({ fs: true }).box },
    [
      `workspace ${'n'.repeat(42)}: the name is too long: at most 41 characters fit before workspace__${'n'.repeat(42)}__write_file`,
    ],
  ],
  [
    box({ fs: { maxFileSizeMb: 0 } }),
    [expect.stringMatching(/^workspace box: capabilities\.fs\.maxFileSizeMb: /)],
  ],
  [{ box: null }, [expect.stringMatching(/^workspace box: (?!:)/)]],
])('workspaces %o', (workspaces, problems) => {
  expect(problemsOf(() => defineAgent({ ...base, workspaces: workspaces as never }))).toEqual(
    problems,
  )
})

const historyOf = (history: unknown) =>
  defineAgent({ ...base, workspaces: box({ fs: true, snapshot: true }, { history }) as never })
    .workspaces['box' as never]['history']

test('a history has its defaults, and no more than it says', () => {
  expect(historyOf('step')).toEqual({ on: 'step', keep: 50 })
  expect(historyOf({ on: 'step' })).toEqual({ on: 'step', keep: 50 })
  expect(historyOf({ on: 'step', keep: 1, maxAgeMs: 5 })).toEqual({
    on: 'step',
    keep: 1,
    maxAgeMs: 5,
  })
  expect(Object.isFrozen(historyOf('step'))).toBe(true)
  expect(historyOf(undefined)).toBeUndefined()
  for (const wrong of ['run', { on: 'step', keep: 0 }, { on: 'step', maxAgeMs: 0 }]) {
    expect(() => historyOf(wrong)).toThrow(AgentDefinitionError)
  }
})

const toolOf = (name: string, capabilities: object) =>
  toolNamed(name, { workspaces: { [name]: { capabilities } } })

test('a tool that was typed by what a workspace does not declare', () => {
  const tools = [
    toolOf('box', { fs: true, shell: true, code: false }),
    toolOf('parent', { fs: true }),
  ]
  expect(
    problemsOf(() => defineAgent({ ...base, tools, workspaces: box({ fs: true }) as never })),
  ).toEqual(['tool box: it uses shell of workspace box, which does not declare it'])
})

const rules = (tool: string) => [{ tool, decision: 'deny' }]

const defined = (tool: string) =>
  defineAgent({
    ...base,
    tools: [toolNamed('mine')],
    workspaces: box({ fs: true }) as never,
    permissions: rules(tool) as never,
  })

test('rules may be about own tools and those of workspaces, and are frozen', () => {
  for (const tool of ['mine', 'workspace__box__read_file']) {
    const { permissions } = defined(tool)
    expect([Object.isFrozen(permissions), Object.isFrozen(permissions?.[0])]).toEqual([true, true])
  }
  expect(problemsOf(() => defined('workspace__box__run'))).toHaveLength(1)
  expect(problemsOf(() => defined('other'))).toHaveLength(1)
})

test('a tool passes its options on, and nothing else', () => {
  const least = defineTool({ name: 't', description: 'd', inputSchema, execute: () => 1 })
  expect(Object.keys(least).toSorted().join(' ')).toBe(
    'annotations description execute name parameters parse toModelOutput',
  )
  const options = {
    needsApproval: true,
    approvalTtlMs: 0.1,
    finishWith: true,
    timeoutMs: 5,
    orderKey: 'k',
    workspaces: {},
  }
  expect(
    defineTool({ name: 't', description: 'd', inputSchema, execute: () => 1, ...options }),
  ).toMatchObject(options)
  expect(Object.isFrozen(least)).toBe(true)
  const shown = defineTool({
    name: 't',
    description: 'd',
    inputSchema,
    execute: () => 1,
    toModelOutput: (output) => `own ${output}`,
  })
  expect(shown.toModelOutput(2)).toBe('own 2')
})

const toolCalled = (name: string) => () => defineTool({ name, description: '', inputSchema })

test('a long name of a tool is cut in its problem', () => {
  expect(toolCalled('x'.repeat(81))).toThrow(`the tool "${'x'.repeat(80)}"`)
  expect(toolCalled('a b')).toThrow('the tool "a b"')
})

test('a tool without work is answered by a client, and its output is checked', async () => {
  const tool = defineTool({ name: 't', description: 'd', inputSchema, outputSchema: z.number() })
  expect(tool.answeredBy).toBe('client-tool')
  await expect(tool.execute({}, context)).rejects.toMatchObject({
    code: 'tool-failed',
    message: 'this runtime does not ask clients',
  })
  expect(await tool.parseOutput?.(1)).toBe(1)
  await expect(tool.parseOutput?.('x')).rejects.toMatchObject({
    code: 'tool-failed',
    message: 'the result of t does not match its outputSchema',
  })
  expect(defineTool({ name: 't', description: 'd', inputSchema })).not.toHaveProperty('parseOutput')
})

test('a question to the user', async () => {
  const tool = askUserTool()
  expect(tool).toMatchObject({
    name: 'ask_user',
    description: expect.stringMatching(/^Asks the user a question/),
    annotations: { readOnly: true, destructive: false, idempotent: false },
    answeredBy: 'question',
  })
  expect(tool).not.toHaveProperty('approvalTtlMs')
  expect(Object.isFrozen(tool)).toBe(true)
  const own = askUserTool({ name: 'ask', description: 'd', approvalTtlMs: 5 })
  expect(own).toMatchObject({ name: 'ask', description: 'd', approvalTtlMs: 5 })
  expect(own.permission?.facts).toEqual({ name: 'ask', hasCommand: false, hasPaths: false })
  expect(own.permission?.subject({})).toEqual({ toolName: 'ask' })
  const preview = (input: object) => own.permission?.preview?.(input, {} as never)
  expect(await preview({ question: 'Which?' })).toEqual({ title: 'Which?' })
  expect(await preview({ question: 'Which?', options: ['a', 'b'] })).toEqual({
    title: 'Which?',
    body: '- a\n- b',
  })
  expect(await tool.parseOutput?.('x'.repeat(100_000))).toHaveLength(100_000)
  for (const answer of [1, 'x'.repeat(100_001)]) {
    await expect(tool.parseOutput?.(answer)).rejects.toMatchObject({
      code: 'tool-failed',
      message: 'an answer is a text of at most 100000 characters',
    })
  }
  await expect(tool.execute({}, context)).rejects.toThrow('this runtime does not ask users')
})

test('a sub-agent as a tool', async () => {
  const agent = defineAgent({ ...base, name: 'child' })
  const tool = createSubAgentTool(agent, inputSchema)
  expect(tool).toMatchObject({
    name: 'subagent__child',
    description: 'Runs the agent child.',
    annotations: { readOnly: false, destructive: true, idempotent: false },
    subAgent: { agent, inheritWorkspaces: false },
  })
  expect(tool).not.toHaveProperty('timeoutMs')
  expect(tool.toModelOutput({ a: 1 })).toBe('{"a":1}')
  await expect(tool.execute({}, context)).rejects.toThrow('this runtime does not run sub-agents')
  const described = defineAgent({ ...base, name: 'child', description: 'Of the agent.' })
  expect(createSubAgentTool(described, inputSchema).description).toBe('Of the agent.')
  const options = { description: 'Own.', timeoutMs: 5, inheritWorkspaces: true }
  expect(createSubAgentTool(described, inputSchema, options)).toMatchObject({
    description: 'Own.',
    timeoutMs: 5,
    subAgent: { inheritWorkspaces: true },
  })
})
