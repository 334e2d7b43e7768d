// One model call through the adapter, and the AI SDK's own, over its own mock model.
import type { JSONSchema7, LanguageModelV4StreamPart } from '@ai-sdk/provider'
import type { Message, StepInput } from '@helix-agents/core'
import type { ToolSpec } from '@helix-agents/core/runtime'
import { VercelAIAdapter } from '@helix-agents/llm-vercel'
import { jsonSchema, type ModelMessage, streamText, type ToolSet } from 'ai'
import { convertArrayToReadableStream, MockLanguageModelV4 } from 'ai/test'
import { type Measurement, median } from '../harness/measure.ts'
import { report, type Verdict } from '../harness/report.ts'

const MOST_OF_SDK = 1.5
/** A session of 1,000 steps costs no more at its end than at its beginning, within noise. */
const MOST_GROWTH = 1.5
const STEPS = 1000
const ROUNDS = 5
const EDGE = 100

const schema = {
  type: 'object',
  properties: { path: { type: 'string' }, content: { type: 'string' } },
  required: ['path', 'content'],
} satisfies JSONSchema7

const specs: readonly ToolSpec[] = Object.freeze(
  Array.from({ length: 9 }, (_, index) => ({
    name: `tool_${index}`,
    description: 'Does something with a file.',
    parameters: schema,
  })),
)

const tools: ToolSet = Object.fromEntries(
  specs.map(({ name, description }) => [
    name,
    { description, inputSchema: jsonSchema(() => schema) },
  ]),
)

export async function run(): Promise<Verdict[]> {
  await ours(50)
  await sdk(50)
  const [own, theirs]: [number[], number[]] = [[], []]
  const growth: { own: number; theirs: number }[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const costs = await ours(STEPS)
    const others = await sdk(STEPS)
    own.push(median(costs.slice(0, EDGE)))
    theirs.push(median(others.slice(0, EDGE)))
    growth.push({ own: growthOf(costs), theirs: growthOf(others) })
  }
  const [ownGrowth, sdkGrowth] = [
    median(growth.map((it) => it.own)),
    median(growth.map((it) => it.theirs)),
  ]
  return [
    report({
      title: 'llm: one step over the mock model',
      ours: 'VercelAIAdapter',
      limit: 'streamText',
      measurements: [named('streamText', median(theirs)), named('VercelAIAdapter', median(own))],
      gate: { most: MOST_OF_SDK },
    }),
    report({
      title: `llm: last ${EDGE} of ${STEPS} steps ÷ first ${EDGE}, in hundredths`,
      ours: 'VercelAIAdapter',
      limit: 'flat',
      measurements: [
        named('flat', 100),
        named('VercelAIAdapter', ownGrowth * 100),
        named('streamText', sdkGrowth * 100),
      ],
      gate: { most: MOST_GROWTH },
    }),
  ]
}

function named(name: string, microseconds: number): Measurement {
  return { name, microseconds }
}

function growthOf(costs: readonly number[]): number {
  return median(costs.slice(-EDGE)) / median(costs.slice(0, EDGE))
}

/** Microseconds of each step of a session, with one tool call each. */
async function ours(count: number): Promise<number[]> {
  const model = createModel()
  const adapter = new VercelAIAdapter()
  const messages: Message[] = [{ role: 'user', content: 'Go.' }]
  const input: StepInput = {
    systemPrompt: 'Work.',
    messages,
    tools: specs,
    config: { model },
    abortSignal: new AbortController().signal,
    callbacks: { onTextDelta: () => {}, onToolInput: () => {} },
    agentId: 'run',
    agentType: 'agent',
  }
  const costs: number[] = []
  for (let step = 0; step < count; step++) {
    const start = process.hrtime.bigint()
    const result = await adapter.generateStep(input)
    costs.push(Number(process.hrtime.bigint() - start) / 1000)
    if (result.type !== 'tool_calls') throw new Error(`a step of type ${result.type}`)
    const { content = '', toolCalls } = result
    messages.push({ role: 'assistant', content, toolCalls })
    for (const { id, name } of toolCalls) {
      messages.push({ role: 'tool', toolCallId: id, toolName: name, content: 'done' })
    }
    model.doStreamCalls.length = 0
  }
  return costs
}

/** The same session with one `streamText` a step. */
async function sdk(count: number): Promise<number[]> {
  const model = createModel()
  const messages: ModelMessage[] = [{ role: 'user', content: 'Go.' }]
  const costs: number[] = []
  for (let step = 0; step < count; step++) {
    const start = process.hrtime.bigint()
    const result = streamText({ model, messages, tools, instructions: 'Work.' })
    for await (const _ of result.fullStream) {
      // Read to its end, as a stream to a user is.
    }
    const calls = await result.toolCalls
    costs.push(Number(process.hrtime.bigint() - start) / 1000)
    messages.push({
      role: 'assistant',
      content: [
        { type: 'text', text: 'I write.' },
        ...calls.map(({ toolCallId, toolName, input }) => ({
          type: 'tool-call' as const,
          toolCallId,
          toolName,
          input: input as unknown,
        })),
      ],
    })
    messages.push({
      role: 'tool',
      content: calls.map(({ toolCallId, toolName }) => ({
        type: 'tool-result',
        toolCallId,
        toolName,
        output: { type: 'text', value: 'done' },
      })),
    })
    model.doStreamCalls.length = 0
  }
  return costs
}

function createModel(): MockLanguageModelV4 {
  let step = 0
  return new MockLanguageModelV4({
    doStream: async () => ({ stream: convertArrayToReadableStream(answer(`call-${step++}`)) }),
  })
}

function answer(id: string): LanguageModelV4StreamPart[] {
  const input = JSON.stringify({ path: '/a.txt', content: 'text' })
  const count = { total: 10, noCache: 10, cacheRead: 0, cacheWrite: 0 }
  const usage = { inputTokens: count, outputTokens: { total: 5, text: 5, reasoning: 0 } }
  return [
    { type: 'stream-start', warnings: [] },
    { type: 'text-start', id: '0' },
    { type: 'text-delta', id: '0', delta: 'I ' },
    { type: 'text-delta', id: '0', delta: 'write.' },
    { type: 'text-end', id: '0' },
    { type: 'tool-input-start', id, toolName: 'tool_0' },
    { type: 'tool-input-delta', id, delta: input },
    { type: 'tool-input-end', id },
    { type: 'tool-call', toolCallId: id, toolName: 'tool_0', input },
    { type: 'finish', finishReason: { unified: 'tool-calls', raw: undefined }, usage },
  ]
}
