// The tool that an answer is about, on the way from the root agent to the one that asks; and its rules.
import { createSubAgentTool, defineAgent, defineTool, ToolInputError } from '@helix-agents/core'
import type { SessionRequest } from '@helix-agents/core/runtime'
import { InMemoryWorkspaceProvider } from '@helix-agents/workspace-memory'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { ToolSets } from '../../src/call/tool-sets.ts'
import type { RunServices } from '../../src/ports.ts'
import { checkAnswer } from '../../src/request/check-answer.ts'

const provider = new InMemoryWorkspaceProvider()
const services = {
  toolSets: new ToolSets(new Map([[provider.providerId, provider]])),
} as unknown as RunServices
const box = { provider: { kind: provider.providerId }, capabilities: { fs: true } } as const
const send = (name: string, more: object = {}) =>
  defineTool({
    name: 'send',
    description: '',
    inputSchema: z.object({ [name]: z.string() }),
    needsApproval: true,
    execute: () => 'sent',
    ...more,
  })

const request = (more: Partial<SessionRequest> = {}): SessionRequest => ({
  requestId: 'r',
  sessionId: 's',
  askingSessionId: 's',
  agentPath: ['root'],
  kind: 'approval',
  toolCallId: 'a',
  toolName: 'send',
  arguments: '{}',
  preview: { title: 'Send', body: '', format: 'text' } as never,
  createdAt: 0,
  ...more,
})
const agentOf = (name: string, config: object = {}) =>
  defineAgent({ name, llmConfig: { model: {} }, ...config })
const approve = (input: unknown) => ({ decision: 'approve', input }) as const

test('the tool is that of the agent that asks', async () => {
  const leaf = agentOf('leaf', { tools: [send('leaf')] })
  const child = agentOf('child', { tools: [send('child'), createSubAgentTool(leaf, z.object({}))] })
  const root = agentOf('root', { tools: [send('root'), createSubAgentTool(child, z.object({}))] })
  const edit = (agentPath: readonly string[]) =>
    checkAnswer(services, root, request({ agentPath }), approve({ [agentPath.at(-1)!]: 'x' }))
  for (const path of [['root'], ['root', 'child'], ['root', 'child', 'leaf']]) {
    const editedArguments = `{"${path.at(-1)}":"x"}`
    expect(await edit(path)).toEqual({ decision: 'approve', editedArguments })
  }
  for (const path of [
    ['root', 'leaf'],
    ['root', 'gone', 'leaf'],
  ]) {
    await expect(edit(path)).rejects.toThrow(
      'the answer to request r is not valid: input: there is no tool send',
    )
  }
  const unknown = checkAnswer(services, root, request({ toolName: 'gone' }), approve({}))
  await expect(unknown).rejects.toThrow('input: there is no tool gone')
})

test('an answer without an input needs no tool, and has what is said and nothing else', async () => {
  const root = agentOf('root')
  const answer = (given: object, more: Partial<SessionRequest> = {}) =>
    checkAnswer(services, root, request(more), given as never)
  expect(Object.keys(await answer({ decision: 'approve', resume: false }))).toEqual(['decision'])
  expect(await answer({ decision: 'approve', remember: 'session', reason: 'ok' })).toEqual({
    decision: 'approve',
    remember: 'session',
    reason: 'ok',
  })
  expect(await answer({ decision: 'deny', remember: 'session' })).toEqual({ decision: 'deny' })
  expect(await answer({ decision: 'deny', output: 1 }, { kind: 'question' })).toEqual({
    decision: 'deny',
  })
  expect(await answer({ output: null }, { kind: 'client-tool' })).toEqual({
    decision: 'output',
    output: null,
  })
  await expect(answer({}, { kind: 'question' })).rejects.toThrow('decision must be output or deny')
})

const deny = (path: string) => [{ decision: 'deny', path }] as const

test('what a tool shares with its parent is under the rules of both', async () => {
  const child = agentOf('child', { permissions: deny('/child/**'), workspaces: { own: box } })
  const root = (inheritWorkspaces: boolean) =>
    agentOf('root', {
      permissions: deny('/above/**'),
      tools: [createSubAgentTool(child, z.object({}), { inheritWorkspaces })],
      workspaces: { box },
    })
  const write = (inherits: boolean, workspace: string, path: string) =>
    checkAnswer(
      services,
      root(inherits),
      request({
        agentPath: ['root', 'child'],
        toolName: `workspace__${workspace}__write_file`,
      }),
      approve({ path, content: '' }),
    )
  const denied = 'rules of this agent'
  await expect(write(true, 'box', '/above/a')).rejects.toThrow(denied)
  await expect(write(true, 'box', '/child/a')).rejects.toThrow(denied)
  expect(await write(true, 'own', '/a')).toMatchObject({ decision: 'approve' })
  expect(await write(false, 'own', '/above/a')).toMatchObject({ decision: 'approve' })
  await expect(write(false, 'own', '/child/a')).rejects.toThrow(denied)
  await expect(write(false, 'box', '/a')).rejects.toThrow('there is no tool')
})

const failing = (error: unknown) => {
  const parseOutput = async () => {
    throw error
  }
  const tool = defineTool({ name: 'send', description: '', inputSchema: z.object({}) })
  return agentOf('root', {
    tools: [Object.create(tool, { parseOutput: { value: parseOutput } })],
  })
}

const problemOf = (error: unknown) =>
  checkAnswer(services, failing(error), request({ kind: 'client-tool' }), { output: 1 })

test('an error of a schema names the fields, and one without fields says what is wrong', async () => {
  const issues = [
    { path: '', message: 'all of it' },
    { path: 'a.b', message: 'this' },
  ]
  const named = new ToolInputError('invalid-input', 'does not fit', { issues })
  await expect(problemOf(named)).rejects.toThrow('not valid: output: all of it; output.a.b: this')
  const plain = new ToolInputError('invalid-input', 'does not fit')
  await expect(problemOf(plain)).rejects.toThrow('not valid: output: does not fit')
  await expect(problemOf(plain)).rejects.toHaveProperty('cause', plain)
  const wrapped = new ToolInputError('invalid-input', 'outer', { cause: named })
  await expect(problemOf(wrapped)).rejects.toThrow('not valid: output: all of it; output.a.b: this')
  await expect(problemOf(new Error('secret'))).rejects.toThrow('not valid: output does not fit')
})

const parsing = (parsed: unknown) => {
  const outputSchema = z.unknown().transform(() => parsed)
  const tool = defineTool({
    name: 'send',
    description: '',
    inputSchema: z.object({}),
    outputSchema,
  })
  return agentOf('root', { tools: [tool] })
}

const outputOf = (parsed: unknown) =>
  checkAnswer(services, parsing(parsed), request({ kind: 'client-tool' }), { output: 'given' })

test('what a schema makes of an output is the output, as far as it is JSON', async () => {
  expect(await outputOf('made')).toEqual({ decision: 'output', output: 'made' })
  expect(await outputOf(undefined)).toEqual({ decision: 'output', output: 'given' })
  await expect(outputOf(1n)).rejects.toThrow('output is no plain JSON')
})
