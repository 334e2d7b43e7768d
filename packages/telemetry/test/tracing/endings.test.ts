import {
  defineAgent,
  defineTool,
  type StepInput,
  type StepResult,
  ToolFailedError,
  WorkspaceFailedError,
} from '@helix-agents/core'
import type { WorkspaceProvider } from '@helix-agents/core/provider'
import type { Tracer } from '@helix-agents/core/runtime'
import { InMemoryWorkspaceProvider } from '@helix-agents/workspace-memory'
import { SpanStatusCode, trace } from '@opentelemetry/api'
import type { ReadableSpan } from '@opentelemetry/sdk-trace'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { boxes, calls, createExecutor, runToEnd, say } from '../harness.ts'
import { recordSpans, useAsyncContext } from './span-recorder.ts'

useAsyncContext()

const llmConfig = { model: 'plain-1' }
const agent = defineAgent({ name: 'writer', llmConfig, workspaces: boxes })
const write = ['workspace__box__write_file', { path: '/a', content: 'a' }] as const

/** Status and what was set of a span, without what it started with. */
function endOf(span: ReadableSpan | undefined) {
  const { status, attributes } = span!
  return {
    code: status.code,
    message: status.message,
    type: attributes['error.type'],
    run: attributes['helix.run.status'],
    aborted: attributes['helix.aborted'],
  }
}

const failedWith = (type: string, run?: string) => ({
  code: SpanStatusCode.ERROR,
  message: undefined,
  type,
  run,
  aborted: undefined,
})

test('a model that throws fails its call, its step and its run', async () => {
  const { tracer, named } = recordSpans()
  const executor = createExecutor(
    [
      () => {
        throw new TypeError('SECRET-provider-error')
      },
    ],
    { tracer },
  )
  await runToEnd(executor, agent)
  expect(endOf(named('chat plain-1')[0])).toEqual(failedWith('model-failed'))
  expect(endOf(named('helix.step')[0])).toEqual(failedWith('model-failed'))
  expect(endOf(named('invoke_agent writer')[0])).toEqual(failedWith('model-failed', 'failed'))
  const [event] = named('chat plain-1')[0]!.events
  expect(event?.attributes).toEqual({ 'exception.type': 'model-failed' })
})

test('a model that reports an error fails its call, and only that when it is tried again', async () => {
  const { tracer, named } = recordSpans()
  const error = new ToolFailedError('tool-failed', 'SECRET')
  const executor = createExecutor([{ type: 'error', error, shouldStop: false }, say('well')], {
    tracer,
  })
  await runToEnd(executor, agent)
  const chats = named('chat plain-1')
  expect(endOf(chats[0])).toEqual(failedWith('tool-failed'))
  expect(chats[0]!.attributes['gen_ai.response.finish_reasons']).toEqual(['error'])
  expect(chats[1]!.status.code).toBe(SpanStatusCode.UNSET)
  expect(named('helix.step').map(({ status }) => status.code)).toEqual([0, 0])
  expect(named('invoke_agent writer')[0]!.status.code).toBe(SpanStatusCode.UNSET)
})

test('a model says nothing through the ids of its calls, nor through why it stopped', async () => {
  const { tracer, named } = recordSpans()
  const toolCalls = ['SECRET of a user', 'call_1'].map((id) => ({ id, name: 'x', arguments: {} }))
  const steps: StepResult[] = [
    { type: 'tool_calls', toolCalls, stopReason: 'SECRET of another' },
    { ...say('done'), stopReason: 'end_turn' },
  ]
  await runToEnd(createExecutor(steps, { tracer }), agent)
  const ids = named('execute_tool unknown').map((span) => span.attributes['gen_ai.tool.call.id'])
  expect(ids).toEqual([undefined, 'call_1'])
  const reasons = named('chat plain-1').map(
    (span) => span.attributes['gen_ai.response.finish_reasons'],
  )
  expect(reasons).toEqual([['other'], ['end_turn']])
})

test('a run over its bound has failed', async () => {
  const { tracer, named } = recordSpans()
  const bounded = defineAgent({ name: 'writer', llmConfig, maxSteps: 1, workspaces: boxes })
  await runToEnd(createExecutor([calls(write), say('late')], { tracer }), bounded)
  expect(endOf(named('invoke_agent writer')[0])).toEqual(failedWith('max-steps', 'failed'))
})

test.each(['abort', 'interrupt'] as const)('%s is no failure', async (action) => {
  const { tracer, named, spans } = recordSpans()
  const asked = Promise.withResolvers<void>()
  const answer = Promise.withResolvers<StepResult>()
  const generateStep = async ({ abortSignal }: StepInput): Promise<StepResult> => {
    asked.resolve()
    abortSignal.addEventListener('abort', () => answer.reject(abortSignal.reason))
    return answer.promise
  }
  const executor = createExecutor([], { tracer, adapter: { generateStep } })
  const handle = await executor.execute(agent, 'x', { sessionId: 'session-1' })
  await asked.promise
  const stopping = handle[action]()
  if (action === 'interrupt') answer.resolve(calls(write))
  await stopping
  const { status } = await handle.result()
  expect(status).toBe(action === 'abort' ? 'aborted' : 'interrupted')
  const run = endOf(named('invoke_agent writer')[0])
  expect(run).toMatchObject({ code: SpanStatusCode.UNSET, type: undefined, run: status })
  expect(endOf(named('chat plain-1')[0])).toMatchObject({
    code: SpanStatusCode.UNSET,
    aborted: action === 'abort' ? true : undefined,
  })
  expect(spans().filter((span) => span.status.code === SpanStatusCode.ERROR)).toEqual([])
})

const refuse = () => Promise.reject(new Error('SECRET'))

function tool(name: string, execute: (signal: AbortSignal) => Promise<never>) {
  return defineTool({
    name,
    description: name,
    inputSchema: z.strictObject({}),
    execute: (_, context) => execute(context.abortSignal),
  })
}

test('a tool that an abort stops has not failed; one that stops by itself has', async () => {
  const { tracer, named } = recordSpans()
  const started = Promise.withResolvers<void>()
  const own = tool('own', () => Promise.reject(new DOMException('mine', 'AbortError')))
  const waits = tool('waits', (signal) => {
    started.resolve()
    return new Promise((_, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason))
    })
  })
  const busy = defineAgent({ name: 'busy', llmConfig, tools: [own, waits] })
  const executor = createExecutor([calls(['own']), calls(['waits'])], { tracer })
  const handle = await executor.execute(busy, 'x')
  await started.promise
  await handle.abort()
  await handle.result()
  expect(endOf(named('execute_tool own')[0])).toEqual(failedWith('aborted'))
  expect(endOf(named('execute_tool waits')[0])).toMatchObject({ code: 0, aborted: true })
})

test('an open that fails is an errored span below its tool call, with its retries', async () => {
  const { tracer, named, tree } = recordSpans()
  const failing: WorkspaceProvider = {
    providerId: 'in-memory',
    capabilities: { fs: true },
    refSchemaVersion: 1,
    open: () => {
      throw new WorkspaceFailedError('provider-failed', 'SECRET-host', { transient: true })
    },
    resolve: () => Promise.reject(new Error('not reached')),
  }
  const executor = createExecutor([calls(write), say('gone')], {
    tracer,
    workspaceProviders: [failing],
    workspaceRegistry: { transientRetryAttempts: 1 },
    clock: {
      now: () => 0,
      setTimer: () => () => {},
      sleep: () => Promise.resolve(),
    },
  })
  await runToEnd(executor, agent)
  const [open] = named('helix.workspace.open')
  expect(endOf(open)).toEqual(failedWith('provider-failed'))
  expect(open!.attributes).toMatchObject({ 'helix.workspace.retries': 1 })
  expect(open!.attributes).not.toHaveProperty('helix.workspace.outcome')
  expect(endOf(named('execute_tool workspace__box__write_file')[0])).toEqual(
    failedWith('provider-failed'),
  )
  expect(tree()).toEqual([
    'invoke_agent writer',
    '  helix.step',
    '    chat plain-1',
    '    execute_tool workspace__box__write_file',
    '      helix.workspace.open',
    '  helix.step',
    '    chat plain-1',
  ])
})

test('the next turn resolves its workspace; a close that fails is an errored span', async () => {
  const { tracer, named } = recordSpans()
  const provider = new InMemoryWorkspaceProvider()
  const executor = createExecutor([calls(write), say('one'), calls(write), say('two')], {
    tracer,
    workspaceProviders: [provider],
  })
  const first = await executor.execute(agent, 'x', { sessionId: 's', keepWorkspaces: true })
  await first.result()
  expect(named('helix.workspace.close')[0]!.attributes['helix.workspace.close.mode']).toBe('detach')
  const resolve = provider.resolve.bind(provider)
  provider.resolve = async (...args) => {
    const opened = await resolve(...args)
    return { ...opened, ws: Object.assign(Object.create(opened.ws), { close: refuse }) }
  }
  const second = await executor.execute(agent, 'x', { sessionId: 's', keepWorkspaces: false })
  await second.result()
  expect(named('helix.workspace.resolve')[0]!.attributes).toMatchObject({
    'helix.workspace.outcome': 'reattached',
  })
  expect(endOf(named('helix.workspace.close')[1])).toEqual(failedWith('internal'))
})

test('a run starts below the span that is active where it was started', async () => {
  const { tracer, tree } = recordSpans()
  const executor = createExecutor([say('well')], { tracer })
  await tracer.startActiveSpan('request', async (span) => {
    await runToEnd(executor, agent)
    span.end()
  })
  expect(tree().slice(0, 2)).toEqual(['request', '  invoke_agent writer'])
})

test('a tracer of the API package fits as it is', () => {
  const tracer: Tracer = trace.getTracer('types')
  expect(tracer.startActiveSpan('x', {}, () => 7)).toBe(7)
})

test('without a tracer no span is made', async () => {
  const { startedCount } = recordSpans()
  const result = await runToEnd(createExecutor([calls(write), say('well')]), agent)
  expect([result.status, startedCount()]).toEqual(['completed', 0])
})
