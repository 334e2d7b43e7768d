// The spans of a run, with everything that stands in them.
import {
  defineAgent,
  defineTool,
  type MockStep,
  ModelError,
  type StepResult,
} from '@helix-agents/core'
import type { Span, SpanOptions, Tracer } from '@helix-agents/core/runtime'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { calls, createHarness, say } from '../harness.ts'

interface RecordedSpan {
  readonly name: string
  readonly kind: SpanOptions['kind']
  readonly attributes: Record<string, unknown>
  status?: number
  exception?: object
}

function recordingTracer() {
  const spans: RecordedSpan[] = []
  const tracer: Tracer = {
    startActiveSpan: (name, { kind, attributes }, work) => {
      const one: RecordedSpan = { name, kind, attributes: { ...attributes } }
      spans.push(one)
      const span: Span = {
        setAttribute: (key, value) => (one.attributes[key] = value),
        setAttributes: (more) => Object.assign(one.attributes, more),
        setStatus: ({ code }) => (one.status = code),
        recordException: (exception) => (one.exception = exception),
        end: () => {},
      }
      return work(span)
    },
  }
  return { spans, tracer }
}

const model = { modelId: 'm', provider: 'google.generative' }
const look = defineTool({
  name: 'look',
  description: '',
  inputSchema: z.object({}),
  execute: () => 'seen',
})
const agent = defineAgent({ name: 'a', llmConfig: { model }, tools: [look] })
const usage = { inputTokens: 3, outputTokens: 2 }
const session = { 'gen_ai.agent.name': 'a', 'gen_ai.conversation.id': 's' }
const ofModel = { 'gen_ai.request.model': 'm', 'gen_ai.provider.name': 'gcp.gemini' }
const chat = { ...session, ...ofModel, 'gen_ai.operation.name': 'chat' }
const used = { 'gen_ai.usage.input_tokens': 3, 'gen_ai.usage.output_tokens': 2 }

async function spansOf(steps: readonly MockStep[], options: object = {}) {
  const { spans, tracer } = recordingTracer()
  const harness = createHarness(steps, { tracer, ...options })
  const handle = await harness.executor.execute(agent, 'Go', { sessionId: 's' })
  await handle.result()
  return { spans, handle, harness, tracer }
}

test('a run, its steps, the calls of its model and of its tools have spans', async () => {
  const odd = { id: 'an id with spaces', name: 'made up', arguments: {} }
  const first: StepResult = {
    type: 'tool_calls',
    toolCalls: [{ id: 'b', name: 'look', arguments: {} }, odd],
    usage,
  }
  const { spans, handle } = await spansOf([first, { ...say('done'), stopReason: 'stop' }])
  const tool = {
    ...session,
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.type': 'function',
  }
  expect(spans).toEqual([
    {
      name: 'invoke_agent a',
      kind: 0,
      attributes: {
        ...session,
        ...ofModel,
        ...used,
        'gen_ai.operation.name': 'invoke_agent',
        'helix.run.id': handle.runId,
        'helix.run.status': 'completed',
        'helix.session.steps': 2,
      },
    },
    { name: 'helix.step', kind: 0, attributes: { 'helix.step.number': 1 } },
    {
      name: 'chat m',
      kind: 2,
      attributes: { ...chat, ...used, 'gen_ai.response.finish_reasons': ['tool_calls'] },
    },
    {
      name: 'execute_tool look',
      kind: 0,
      attributes: { ...tool, 'gen_ai.tool.name': 'look', 'gen_ai.tool.call.id': 'b' },
    },
    {
      name: 'execute_tool unknown',
      kind: 0,
      attributes: { ...tool, 'gen_ai.tool.name': 'unknown', 'error.type': 'unknown-tool' },
      status: 2,
      exception: { name: 'ToolInputError', code: 'unknown-tool' },
    },
    { name: 'helix.step', kind: 0, attributes: { 'helix.step.number': 2 } },
    {
      name: 'chat m',
      kind: 2,
      attributes: { ...chat, 'gen_ai.response.finish_reasons': ['stop'] },
    },
  ])
})

test('a model that fails fails its span, that of the step and that of the run', async () => {
  const failure: StepResult = {
    type: 'error',
    error: new ModelError('overloaded'),
    shouldStop: true,
  }
  const { spans } = await spansOf([failure])
  const byName = spans.map(({ name, status, exception }) => [name, status, exception])
  expect(byName).toEqual([
    ['invoke_agent a', 2, { name: 'RunError', code: 'overloaded' }],
    ['helix.step', 2, { name: 'RunError', code: 'overloaded' }],
    ['chat m', 2, { name: 'ModelError', code: 'overloaded' }],
  ])
  expect(spans[2]?.attributes).toMatchObject({ 'gen_ai.response.finish_reasons': ['error'] })
  const other = await spansOf([() => Promise.reject(new Error('no'))])
  expect(other.spans[2]?.exception).toEqual({ name: 'Error', code: 'model-failed' })
  const reported = await spansOf([{ type: 'error', error: new Error('no'), shouldStop: true }])
  expect(reported.spans[2]?.exception).toEqual({ name: 'Error', code: 'model-failed' })
})

test('of an adapter only a plain word is a reason, and only a known model has a name', async () => {
  const text = await spansOf([{ ...say('done'), stopReason: 'a secret of the user' }])
  expect(text.spans[2]?.attributes['gen_ai.response.finish_reasons']).toEqual(['other'])
  const plain = await spansOf([say('done')])
  expect(plain.spans[2]?.attributes['gen_ai.response.finish_reasons']).toEqual(['stop'])
  const { spans, tracer } = recordingTracer()
  const { executor } = createHarness([say('done')], { tracer })
  const unnamed = defineAgent({ name: 'a', llmConfig: { model: {} } })
  await (await executor.execute(unnamed, 'Go', { sessionId: 's' })).result()
  expect(spans[2]).toMatchObject({ name: 'chat', attributes: session })
  expect(Object.keys(spans[2]!.attributes)).not.toContain('gen_ai.request.model')
})

test('a run that was stopped says so, and its call of the model has not failed', async () => {
  const { spans, tracer } = recordingTracer()
  const live: { abort?: () => Promise<void> } = {}
  const stopping: MockStep = async () => {
    await new Promise((resolve) => setImmediate(resolve))
    await live.abort?.()
    return say('too late')
  }
  const { executor } = createHarness([stopping], { tracer })
  const handle = await executor.execute(agent, 'Go', { sessionId: 's' })
  live.abort = () => handle.abort()
  await handle.result()
  expect(spans[0]?.attributes).toMatchObject({
    'helix.run.status': 'aborted',
    'helix.session.steps': 0,
  })
  expect(spans[2]?.attributes).toMatchObject({ 'helix.aborted': true })
  expect(spans.map(({ status }) => status)).toEqual([undefined, undefined, undefined])
})

test('a step that is taken up again has a span with its number and its end', async () => {
  const { harness } = await spansOf([calls(['look'])])
  const { store } = harness
  await store.restoreCheckpoint('s', (await store.listCheckpoints('s')).items[0]!.id, Date.now())
  const start = { sessionId: 's', runId: 'dead', now: 0 }
  await store.beginRun({ ...start, leaseMs: 1 })
  const toolCalls = [{ id: 'z', name: 'look', arguments: {} }]
  await store.beginStep({
    ...start,
    messages: [{ role: 'assistant', content: '', toolCalls }],
    journal: [],
  })
  const { spans, tracer } = recordingTracer()
  store.commitStep = () => Promise.reject(new Error('no'))
  const next = harness.next([], { tracer })
  await (await next.executor.resume(agent, 's')).result()
  expect(spans.slice(0, 2)).toMatchObject([
    { name: 'invoke_agent a', status: 2 },
    { name: 'helix.step', attributes: { 'helix.step.number': 2 }, status: 2 },
  ])
})
