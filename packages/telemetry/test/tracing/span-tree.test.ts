import { createSubAgentTool, defineAgent, defineTool } from '@helix-agents/core'
import { SpanKind, SpanStatusCode } from '@opentelemetry/api'
import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { boxes, calls, createExecutor, runToEnd, say } from '../harness.ts'
import { recordSpans, useAsyncContext } from './span-recorder.ts'

useAsyncContext()

const llmConfig = { model: { modelId: 'small-1', provider: 'google.generative-ai' } }
const helper = defineAgent({ name: 'helper', llmConfig, workspaces: boxes })
const askHelper = createSubAgentTool(helper, z.strictObject({ task: z.string() }))
const failing = defineTool({
  name: 'failing',
  description: 'Fails.',
  inputSchema: z.strictObject({}),
  execute: () => {
    throw new Error('SECRET-tool-error')
  },
})
const agent = defineAgent({
  name: 'writer',
  llmConfig,
  workspaces: boxes,
  tools: [askHelper, failing],
})
const write = ['workspace__box__write_file', { path: '/SECRET-path', content: 'SECRET-content' }]

async function record() {
  const recorder = recordSpans()
  const executor = createExecutor(
    [
      { ...calls(write as [string, unknown]), usage: { inputTokens: 10, outputTokens: 3 } },
      calls(['subagent__helper', { task: 'SECRET-task' }]),
      calls(['workspace__box__write_file', { path: '/b', content: 'b' }]),
      say('SECRET-answer of the helper'),
      calls(['failing'], ['SECRET-unknown-tool'], ['workspace__box__read_file', { path: '/no' }]),
      { ...say('SECRET-answer'), usage: { inputTokens: 5, outputTokens: 4 }, stopReason: 'length' },
    ],
    { tracer: recorder.tracer },
  )
  return { ...recorder, result: await runToEnd(executor, agent) }
}

describe('the spans of a run', () => {
  test('nest by what caused what, sub-agents below their call', async () => {
    const { tree, result } = await record()
    expect(result.status).toBe('completed')
    expect(tree()).toEqual([
      'invoke_agent writer',
      '  helix.step',
      '    chat small-1',
      '    execute_tool workspace__box__write_file',
      '      helix.workspace.open',
      '  helix.step',
      '    chat small-1',
      '    execute_tool subagent__helper',
      '      invoke_agent helper',
      '        helix.step',
      '          chat small-1',
      '          execute_tool workspace__box__write_file',
      '            helix.workspace.open',
      '        helix.step',
      '          chat small-1',
      '        helix.workspace.close',
      '  helix.step',
      '    chat small-1',
      '    execute_tool failing',
      '    execute_tool unknown',
      '    execute_tool workspace__box__read_file',
      '  helix.step',
      '    chat small-1',
      '  helix.workspace.close',
    ])
  })

  test('tell the run', async () => {
    const { named, result } = await record()
    const [run] = named('invoke_agent writer')
    expect(run!.kind).toBe(SpanKind.INTERNAL)
    expect(run!.status.code).toBe(SpanStatusCode.UNSET)
    expect(run!.attributes).toEqual({
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.name': 'writer',
      'gen_ai.conversation.id': 'session-1',
      'gen_ai.request.model': 'small-1',
      'gen_ai.provider.name': 'gcp.gemini',
      'gen_ai.usage.input_tokens': 15,
      'gen_ai.usage.output_tokens': 7,
      'helix.run.id': result.runId,
      'helix.run.status': 'completed',
      'helix.session.steps': 4,
    })
  })

  test('tell each model call and each step', async () => {
    const { named } = await record()
    const chats = named('chat small-1')
    expect(chats.map(({ kind }) => kind)).toEqual(chats.map(() => SpanKind.CLIENT))
    expect(chats.at(-1)!.attributes).toEqual({
      'gen_ai.operation.name': 'chat',
      'gen_ai.agent.name': 'writer',
      'gen_ai.conversation.id': 'session-1',
      'gen_ai.request.model': 'small-1',
      'gen_ai.provider.name': 'gcp.gemini',
      'gen_ai.usage.input_tokens': 5,
      'gen_ai.usage.output_tokens': 4,
      'gen_ai.response.finish_reasons': ['length'],
    })
    expect(chats[0]!.attributes['gen_ai.response.finish_reasons']).toEqual(['tool_calls'])
    const steps = named('helix.step').map(({ attributes }) => attributes['helix.step.number'])
    expect(steps).toEqual([1, 2, 1, 2, 3, 4])
  })

  test('tell each tool call; what the model gets back as an error has failed', async () => {
    const { named } = await record()
    const [done] = named('execute_tool workspace__box__write_file')
    expect(done!.status.code).toBe(SpanStatusCode.UNSET)
    expect(done!.attributes).toEqual({
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'workspace__box__write_file',
      'gen_ai.tool.call.id': 'a',
      'gen_ai.tool.type': 'function',
      'gen_ai.agent.name': 'writer',
      'gen_ai.conversation.id': 'session-1',
    })
    const failures = ['failing', 'unknown', 'workspace__box__read_file'].map((tool) => {
      const [span] = named(`execute_tool ${tool}`)
      return [span!.status.code, span!.attributes['error.type'], span!.events[0]?.name]
    })
    expect(failures).toEqual([
      [SpanStatusCode.ERROR, 'tool-failed', 'exception'],
      [SpanStatusCode.ERROR, 'unknown-tool', 'exception'],
      [SpanStatusCode.ERROR, 'not-found', 'exception'],
    ])
  })

  test('tell how a workspace was opened and closed', async () => {
    const { named } = await record()
    const place = { 'helix.workspace.name': 'box', 'helix.workspace.provider': 'in-memory' }
    expect(named('helix.workspace.open')[0]!.attributes).toEqual({
      ...place,
      'helix.workspace.outcome': 'created',
      'helix.workspace.retries': 0,
    })
    expect(named('helix.workspace.close')[0]!.attributes).toEqual({
      ...place,
      'helix.workspace.close.mode': 'end',
    })
  })

  test('hold nothing that a model, a user, a tool or a file said', async () => {
    const { spans } = await record()
    const told = JSON.stringify(
      spans().map(({ name, attributes, events, status, links }) => ({
        name,
        attributes,
        events,
        status,
        links,
      })),
    )
    expect(told).toContain('exception')
    expect(told).not.toContain('SECRET')
    expect(told).not.toContain('/no')
  })
})
