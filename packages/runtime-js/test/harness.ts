// What the tests of the runtime share: a scripted executor on memory stores.
import {
  defineAgent,
  defineTool,
  type LLMAdapter,
  type Message,
  MockLLMAdapter,
  type MockStep,
  type StepResult,
  type ToolCall,
} from '@helix-agents/core'
import type { SequencedChunk, SessionStateStore } from '@helix-agents/core/runtime'
import { RecordingLogger } from '@helix-agents/core/testing'
import {
  type AgentHandle,
  JSAgentExecutor,
  type JSAgentExecutorOptions,
} from '@helix-agents/runtime-js'
import * as z from 'zod'
import { InMemoryStateStore, InMemoryStreamManager } from '@helix-agents/store-memory'

export interface Harness {
  readonly executor: JSAgentExecutor
  readonly store: SessionStateStore
  readonly streams: InMemoryStreamManager
  readonly logger: RecordingLogger
  /** Another process on the same stores. */
  next(steps: readonly MockStep[], options?: JSAgentExecutorOptions): Harness
}

export interface HarnessOptions extends JSAgentExecutorOptions {
  readonly store?: SessionStateStore
  readonly streams?: InMemoryStreamManager
  readonly adapter?: LLMAdapter
}

export function createHarness(steps: readonly MockStep[], options: HarnessOptions = {}): Harness {
  const { store = new InMemoryStateStore(), streams = new InMemoryStreamManager() } = options
  const logger = new RecordingLogger()
  const adapter = options.adapter ?? new MockLLMAdapter(steps)
  const executor = new JSAgentExecutor(store, streams, adapter, { logger, ...options })
  return {
    executor,
    store,
    streams,
    logger,
    next: (more, moreOptions = {}) =>
      createHarness(more, { ...options, store, streams, ...moreOptions }),
  }
}

/** A step with tool calls: `[name, arguments]`; their ids are `a`, `b`, … */
export function calls(...list: readonly (readonly [name: string, args?: unknown])[]): StepResult {
  const toolCalls = list.map(([name, args], index): ToolCall => ({
    id: String.fromCodePoint(97 + index),
    name,
    arguments: args ?? {},
  }))
  return { type: 'tool_calls', toolCalls }
}

export function say(content: string, shouldStop = true): StepResult {
  return { type: 'text', content, shouldStop }
}

export async function chunksOf(handle: AgentHandle): Promise<SequencedChunk[]> {
  const chunks: SequencedChunk[] = []
  for await (const chunk of handle.stream()) chunks.push(chunk)
  return chunks
}

export async function typesOf(handle: AgentHandle): Promise<string[]> {
  return (await chunksOf(handle)).map((chunk) => chunk.type)
}

/** A promise with its handles, for tools that a test holds up. */
export function gate(): { readonly opened: Promise<void>; open(): void } {
  const { promise, resolve } = Promise.withResolvers<void>()
  return { opened: promise, open: resolve }
}

/** Lets everything that can go on do so. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve))
}

/** What the model reads of a tool result. */
export function textOfResult(message: Message | undefined): string {
  return typeof message?.content === 'string' ? message.content : JSON.stringify(message?.content)
}

export const add = defineTool({
  name: 'add',
  description: 'Adds.',
  inputSchema: z.object({ a: z.number(), b: z.number() }),
  annotations: { readOnly: true },
  execute: ({ a, b }) => a + b,
})

export function agentWith(...tools: ReturnType<typeof defineTool>[]) {
  return defineAgent({ name: 'worker', llmConfig: { model: {} }, tools })
}

export async function storedMessages(
  { store }: Harness,
  sessionId = 's',
): Promise<readonly Message[]> {
  return (await store.loadMessages(sessionId)).messages
}

/** Its calls wait for a person. */
export const gated = defineTool({
  name: 'gated',
  description: '',
  inputSchema: z.object({}),
  needsApproval: true,
  execute: () => 'done',
})
