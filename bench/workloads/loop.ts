// A scripted model that calls one tool in each step, with stream, store and a memory workspace.
import { defineAgent, type LLMAdapter, noopLogger, type StepResult } from '@helix-agents/core'
import { JSAgentExecutor } from '@helix-agents/runtime-js'
import { InMemoryStateStore, InMemoryStreamManager } from '@helix-agents/store-memory'
import { InMemoryWorkspaceProvider } from '@helix-agents/workspace-memory'
import { type Measurement, median } from '../harness/measure.ts'
import { loadPeer } from '../harness/peers.ts'
import { report, type Verdict } from '../harness/report.ts'

const MOST_MICROSECONDS = 25
const MOST_HEAP_BYTES = 2048
const PEER_STEPS = 300

const agent = defineAgent({
  name: 'looper',
  llmConfig: { model: 'scripted' },
  maxSteps: 1_000_000,
  workspaces: { box: { provider: { kind: 'in-memory' }, capabilities: { fs: true } } },
})

export async function run(peers: boolean): Promise<Verdict[]> {
  await steps(500)
  const short = await typical(1000)
  const long = await typical(10_000)
  const exponent = Math.log10(long.microseconds / short.microseconds) + 1
  console.log(`\nloop: total time grows with steps^${exponent.toFixed(2)} from 1,000 to 10,000`)
  return [
    verdict({
      title: 'loop: one step, 1,000 steps',
      figure: short.microseconds,
      most: MOST_MICROSECONDS,
      others: peers ? await generateText() : [],
    }),
    verdict({
      title: 'loop: one step, 10,000 steps',
      figure: long.microseconds,
      most: MOST_MICROSECONDS,
    }),
    verdict({
      title: 'loop: exponent of total time, 1,000 to 10,000',
      figure: exponent,
      most: 1.1,
    }),
    verdict({
      title: 'loop: heap kept a step, bytes',
      figure: long.heapBytes,
      most: MOST_HEAP_BYTES,
    }),
  ]
}

interface Cost {
  readonly microseconds: number
  readonly heapBytes: number
}

async function typical(count: number): Promise<Cost> {
  const costs: Cost[] = []
  for (let round = 0; round < 5; round++) costs.push(await steps(count))
  return {
    microseconds: median(costs.map((cost) => cost.microseconds)),
    heapBytes: median(costs.map((cost) => cost.heapBytes)),
  }
}

/** Cost of one step in a session of so many. */
async function steps(count: number): Promise<Cost> {
  const store = new InMemoryStateStore()
  const streams = new InMemoryStreamManager()
  const executor = new JSAgentExecutor(store, streams, scripted(count), {
    workspaceProviders: new Map([['in-memory', new InMemoryWorkspaceProvider()]]),
    logger: noopLogger,
  })
  globalThis.gc?.()
  const heap = process.memoryUsage().heapUsed
  const start = process.hrtime.bigint()
  const handle = await executor.execute(agent, 'go', { sessionId: 'loop' })
  let chunks = 0
  for await (const _ of handle.stream()) chunks++
  const result = await handle.result()
  const microseconds = Number(process.hrtime.bigint() - start) / 1000 / count
  globalThis.gc?.()
  const heapBytes = (process.memoryUsage().heapUsed - heap) / count
  if (result.status !== 'completed' || chunks < count) throw new Error('the loop did not finish')
  return { microseconds, heapBytes }
}

function scripted(count: number): LLMAdapter {
  let step = 0
  const write = (): StepResult => ({
    type: 'tool_calls',
    toolCalls: [
      {
        id: `call-${step}`,
        name: 'workspace__box__write_file',
        arguments: { path: '/counter.txt', content: `step ${step}` },
      },
    ],
  })
  const done: StepResult = { type: 'text', content: 'done', shouldStop: true }
  return { generateStep: async () => (step++ < count ? write() : done) }
}

interface AiSdk {
  generateText(options: object): Promise<unknown>
  tool(definition: object): unknown
  jsonSchema(schema: object): unknown
  stepCountIs(count: number): unknown
}

/** The AI SDK's own loop over its own mock model. */
async function generateText(): Promise<Measurement[]> {
  const ai = await loadPeer<AiSdk>('ai')
  const test = await loadPeer<{ MockLanguageModelV4: new (options: object) => unknown }>('ai/test')
  if (!ai || !test) return []
  const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } }
  let step = 0
  const model = new test.MockLanguageModelV4({
    doGenerate: async () => ({
      finishReason: { unified: step < PEER_STEPS ? 'tool-calls' : 'stop' },
      usage,
      warnings: [],
      content:
        step++ < PEER_STEPS
          ? [{ type: 'tool-call', toolCallId: `c${step}`, toolName: 'note', input: '{"text":"x"}' }]
          : [{ type: 'text', text: 'done' }],
    }),
  })
  const note = ai.tool({
    inputSchema: ai.jsonSchema({ type: 'object', properties: { text: { type: 'string' } } }),
    execute: async () => 'noted',
  })
  const stopWhen = ai.stepCountIs(PEER_STEPS + 1)
  const start = process.hrtime.bigint()
  await ai.generateText({ model, tools: { note }, prompt: 'go', stopWhen })
  const microseconds = Number(process.hrtime.bigint() - start) / 1000 / PEER_STEPS
  return [{ name: `AI SDK generateText, ${PEER_STEPS} steps`, microseconds }]
}

interface Figure {
  readonly title: string
  readonly figure: number
  readonly most: number
  readonly others?: readonly Measurement[]
}

function verdict({ title, figure, most, others = [] }: Figure): Verdict {
  const measurements = [
    { name: 'limit', microseconds: most },
    { name: 'helix', microseconds: figure },
    ...others,
  ]
  return report({ title, ours: 'helix', limit: 'limit', measurements, gate: { most: 1 } })
}
