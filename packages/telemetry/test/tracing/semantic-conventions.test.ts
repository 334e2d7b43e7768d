import { defineAgent } from '@helix-agents/core'
import * as stable from '@opentelemetry/semantic-conventions'
import * as incubating from '@opentelemetry/semantic-conventions/incubating'
import { expect, test } from 'vitest'
import { boxes, calls, createExecutor, runToEnd, say } from '../harness.ts'
import { recordSpans, useAsyncContext } from './span-recorder.ts'

useAsyncContext()

const modules: readonly object[] = [stable, incubating]
const conventions = new Set<unknown>(modules.flatMap((module) => Object.values(module)))

test('every attribute outside helix.* is one of the conventions', async () => {
  const { tracer, spans } = recordSpans()
  const model = { modelId: 'm', provider: 'openai.responses' }
  const agent = defineAgent({ name: 'a', llmConfig: { model }, workspaces: boxes })
  const usage = { inputTokens: 1, outputTokens: 1 }
  const step = { ...calls(['workspace__box__read_file', { path: '/none' }]), usage }
  await runToEnd(createExecutor([step, say('x')], { tracer }), agent)
  const names = new Set(spans().flatMap(({ attributes }) => Object.keys(attributes)))
  const foreign = [...names].filter((name) => !name.startsWith('helix.'))
  expect(foreign.toSorted()).toEqual([
    'error.type',
    'gen_ai.agent.name',
    'gen_ai.conversation.id',
    'gen_ai.operation.name',
    'gen_ai.provider.name',
    'gen_ai.request.model',
    'gen_ai.response.finish_reasons',
    'gen_ai.tool.call.id',
    'gen_ai.tool.name',
    'gen_ai.tool.type',
    'gen_ai.usage.input_tokens',
    'gen_ai.usage.output_tokens',
  ])
  expect(foreign.filter((name) => !conventions.has(name))).toEqual([])
})

test('operations and providers are called as in the conventions', async () => {
  const { tracer, spans } = recordSpans()
  const families = ['openai.chat', 'google.x', 'amazon-bedrock', 'mistral.chat', 'xai.chat']
  for (const provider of families) {
    const llmConfig = { model: { modelId: 'm', provider } }
    const agent = defineAgent({ name: 'a', llmConfig, workspaces: boxes })
    const steps = [calls(['workspace__box__ls', {}]), say('x')]
    await runToEnd(createExecutor(steps, { tracer }), agent)
  }
  const values = ['gen_ai.operation.name', 'gen_ai.provider.name'].flatMap((name) => [
    ...new Set(spans().flatMap(({ attributes }) => attributes[name] ?? [])),
  ])
  expect(values).toHaveLength(3 + families.length)
  expect(values.filter((value) => !conventions.has(value))).toEqual([])
})

test('a model without a name is called by its operation alone', async () => {
  const { tracer, named } = recordSpans()
  const agent = defineAgent({ name: 'a', llmConfig: { model: {} } })
  await runToEnd(createExecutor([say('x')], { tracer }), agent)
  expect(named('chat')[0]!.attributes).not.toHaveProperty('gen_ai.request.model')
})
