import {
  AgentDefinitionError,
  createSubAgentTool,
  defineAgent,
  defineTool,
  type Tool,
} from '@helix-agents/core'
import { logMessages } from '@helix-agents/core/provider'
import { RecordingLogger } from '@helix-agents/core/testing'
import { describe, expect, expectTypeOf, test } from 'vitest'
import * as z from 'zod'

const llmConfig = { model: {} }
const inMemory = { kind: 'in-memory' }

function toolNamed(name: string): Tool {
  return defineTool({ name, description: '', inputSchema: z.object({}), execute: () => 1 })
}

/** The problems that a definition is refused for. */
function problemsOf(config: object): readonly string[] {
  try {
    defineAgent({ name: 'a', llmConfig, ...config })
    return []
  } catch (error) {
    if (!AgentDefinitionError.isInstance(error)) throw error
    return error.problems
  }
}

const workspace = (capabilities: object, more: object = {}): object => ({
  workspaces: { box: { provider: inMemory, capabilities, ...more } },
})

test('fills in defaults and freezes the result', () => {
  const agent = defineAgent({
    name: 'a',
    llmConfig,
    workspaces: { box: { provider: inMemory, capabilities: { fs: true, shell: false } } },
  })
  expect(agent.maxSteps).toBe(50)
  expect(agent.tools).toEqual([])
  expect(agent.workspaces['box']).toEqual({
    name: 'box',
    provider: inMemory,
    onLost: 'reopen',
    capabilities: {
      fs: expect.objectContaining({ maxFileSizeMb: 10, maxGrepFileSizeMb: 10, readOnly: false }),
    },
  })
  for (const part of [agent, agent.tools, agent.workspaces, agent.workspaces['box']]) {
    expect(Object.isFrozen(part)).toBe(true)
  }
})

test('infers state and output from the schemas', () => {
  const agent = defineAgent({
    name: 'a',
    llmConfig,
    stateSchema: z.object({ n: z.number().default(0) }),
    outputSchema: z.object({ title: z.string() }),
    systemPrompt: (state) => `n is ${state.n.toFixed()}`,
  })
  type Output = typeof agent extends { outputSchema?: infer S } ? S : never
  expectTypeOf<NonNullable<Output>['~standard']['validate']>().returns.not.toBeAny()
  expect(agent.outputSchema).toBeDefined()
})

test('names every problem at once', () => {
  const problems = problemsOf({
    name: 'no spaces please',
    maxSteps: 0,
    maxDurationMs: -1,
    llmConfig: undefined,
    systemPrompt: 7,
    outputSchema: {},
    tols: [],
    tools: [toolNamed('twice'), toolNamed('twice'), toolNamed('workspace__x')],
    workspaces: { Big: { provider: {}, capabilities: { fs: { maxFileSizeMB: 1 } } } },
  })
  for (const word of [
    'name',
    'maxSteps',
    'maxDurationMs',
    'llmConfig',
    'systemPrompt',
    'outputSchema',
    'tols',
    'twice',
    'workspace__',
    'workspace Big: the name',
    'provider.kind',
    'maxFileSizeMB',
  ]) {
    expect(problems.join('\n')).toContain(word)
  }
})

/** The problems of a workspace whose name has so many characters. */
function named(length: number, capabilities: object): readonly string[] {
  return problemsOf({
    workspaces: { ['n'.repeat(length)]: { provider: inMemory, capabilities } },
  })
}

describe('workspaces', () => {
  test.each(['box', 'b', 'my-box_2'])('the name %s is good', (name) => {
    const config = { provider: inMemory, capabilities: { fs: true } }
    expect(problemsOf({ workspaces: { [name]: config } })).toEqual([])
  })

  test.each(['', 'Box', '2box', 'bo x', 'böx', '-box', '__proto'])('the name %j is not', (name) => {
    const config = { provider: inMemory, capabilities: { fs: true } }
    expect(problemsOf({ workspaces: { [name]: config } })).toHaveLength(1)
  })

  test('the name leaves room for the longest tool of what is declared', () => {
    // workspace__ + name + __ + write_file, at most 64
    expect(named(41, { fs: true })).toEqual([])
    expect(named(42, { fs: true })).toHaveLength(1)
    // … + delete_code_context
    expect(named(32, { code: { isStateful: true } })).toEqual([])
    expect(named(33, { code: { isStateful: true } })).toHaveLength(1)
    expect(named(43, { code: true })).toEqual([])
  })

  test.each([
    [{ fs: { maxFileSizeMb: '10' } }],
    [{ fs: { maxFileSizeMb: 0 } }],
    [{ fs: 'yes' }],
    [{ fs: null }],
    [{ shell: { allowedCommands: 'ls' } }],
    [{ shell: { allowedCommands: [] } }],
    [{ code: { languages: [1] } }],
    [{ snapshot: { allowCrossSession: 'no' } }],
    [{ browser: true }],
  ])('refuses %j', (capabilities) => {
    expect(problemsOf(workspace(capabilities)).length).toBeGreaterThan(0)
  })

  test('refuses unknown fields and options, and keeps the options of the provider', () => {
    expect(problemsOf(workspace({ fs: true }, { onLost: 'panic' }))).toHaveLength(1)
    expect(problemsOf(workspace({ fs: true }, { provder: {} }))).toHaveLength(1)
    expect(problemsOf({ workspaces: { box: null } })).toHaveLength(1)
    const provider = { kind: 'in-memory', deterministicIds: true }
    const agent = defineAgent({
      name: 'a',
      llmConfig,
      workspaces: { box: { provider, capabilities: { fs: true } } },
    })
    expect(agent.workspaces['box'].provider).toEqual(provider)
  })

  test('path rules beside a full shell, or beside code, are refused', () => {
    const fs = { pathRules: [{ pattern: '/secrets/**', access: 'none' }] }
    expect(problemsOf(workspace({ fs, shell: true }))).toHaveLength(1)
    expect(problemsOf(workspace({ fs, code: true }))).toHaveLength(1)
    expect(problemsOf(workspace({ fs, shell: { allowedCommands: ['ls'] } }))).toEqual([])
    expect(problemsOf(workspace({ fs: true, shell: true, code: true }))).toEqual([])
  })
})

describe('tools', () => {
  test.each(['workspace__box__ls', '__finish__', 'subagent__x', '', 'a b', 'x'.repeat(65)])(
    'the name %j is refused',
    (name) => {
      expect(problemsOf({ tools: [{ ...toolNamed('ok'), name }] })).toHaveLength(1)
    },
  )

  test('sub-agent tools may use their prefix', () => {
    const child = defineAgent({ name: 'x'.repeat(48), llmConfig })
    expect(problemsOf({ tools: [createSubAgentTool(child, z.object({}))] })).toEqual([])
  })

  test('what is no tool is refused', () => {
    expect(problemsOf({ tools: [{ name: 'x' }] })).toHaveLength(1)
    expect(problemsOf({ tools: [{}] })).toHaveLength(1)
    expect(problemsOf({ tools: 'none' })).toHaveLength(1)
  })
})

test('warns once of allowed commands that are not known to start no others', () => {
  const logger = new RecordingLogger()
  const shell = { allowedCommands: ['ls', 'env', 'find', 'no-such-program'] }
  const config = {
    name: 'a',
    llmConfig,
    workspaces: { box: { provider: { kind: 'local-bash' }, capabilities: { shell } } },
  }
  defineAgent(config, { logger })
  expect(logger.with(logMessages.allowedCommandStartsOthers)).toMatchObject([
    {
      level: 'warn',
      fields: {
        workspace: 'box',
        commands: ['env', 'find', 'no-such-program'],
        reason: expect.stringContaining('complete'),
      },
    },
  ])
})
