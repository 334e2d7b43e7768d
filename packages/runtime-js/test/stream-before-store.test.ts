// What is stored was told before: a process that dies in between has said too much, never too
// little, so that who only reads the stream misses nothing.
import { createSubAgentTool, defineAgent, defineTool, type Message } from '@helix-agents/core'
import type {
  SequencedChunk,
  StepCommit,
  StepStart,
  StreamChunk,
  StreamManager,
  ToolCallCompletion,
} from '@helix-agents/core/runtime'
import { InMemoryStateStore, InMemoryStreamManager } from '@helix-agents/store-memory'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { calls, createHarness, say } from './harness.ts'

const change = defineTool({
  name: 'change',
  description: 'Changes something.',
  inputSchema: z.object({}),
  execute: () => 'changed',
})
const child = defineAgent({ name: 'child', llmConfig: { model: {} }, tools: [change] })
const agent = defineAgent({
  name: 'parent',
  llmConfig: { model: {} },
  tools: [change, createSubAgentTool(child, z.object({ task: z.string() }))],
})

/** Streams that take their time to store a chunk, and say when they have. */
function slowStreams(onStored: (streamId: string, chunk: StreamChunk) => void): StreamManager {
  const inner = new InMemoryStreamManager()
  const slow = (streamId: string) => {
    let last = Promise.resolve()
    return {
      write: (chunk: StreamChunk): Promise<void> => {
        last = last.then(() => new Promise((resolve) => setImmediate(resolve)))
        return last.then(() => onStored(streamId, chunk))
      },
    }
  }
  return {
    startRun: async (streamId) => slow(streamId),
    resumeRun: async (streamId) => slow(streamId),
    endRun: (...run) => inner.endRun(...run),
    read: async (): Promise<AsyncIterable<SequencedChunk> | null> => null,
    deleteStream: (streamId) => inner.deleteStream(streamId),
  }
}

/** Names the calls and texts that it is about to store. */
class WatchedStore extends InMemoryStateStore {
  readonly #onStore: (items: readonly string[]) => void

  constructor(onStore: (items: readonly string[]) => void) {
    super()
    this.#onStore = onStore
  }

  override beginStep(step: StepStart): Promise<void> {
    this.#onStore(step.messages.map(nameOf))
    return super.beginStep(step)
  }

  override completeToolCall(completion: ToolCallCompletion): Promise<void> {
    this.#onStore([completion.toolCallId])
    return super.completeToolCall(completion)
  }

  override commitStep(step: StepCommit): Promise<void> {
    this.#onStore(step.messages.map(nameOf))
    return super.commitStep(step)
  }
}

function nameOf(message: Message): string {
  return message.role === 'tool' ? message.toolCallId : message.content
}

test('each result and each text is on the stream of the session before it is stored', async () => {
  const told = new Set<string>()
  const untold: string[] = []
  const streams = slowStreams((streamId, chunk) => {
    if (streamId !== 's') return
    if (chunk.type === 'tool_end') told.add(chunk.toolCallId)
    if (chunk.type === 'text_delta') told.add(chunk.delta)
  })
  const store = new WatchedStore((items) => {
    untold.push(...items.filter((item) => item !== '' && !told.has(item)))
  })
  const script = [
    { ...calls(['change'], ['change'], ['subagent__child', { task: 't' }]), content: 'I begin.' },
    { ...calls(['change']), content: 'So do I.' },
    say('child done'),
    say('All done.'),
  ]
  const { executor } = createHarness(script, { store, streams: streams as InMemoryStreamManager })
  const result = await (await executor.execute(agent, 'Go', { sessionId: 's' })).result()
  expect(result).toMatchObject({ status: 'completed', output: 'All done.' })
  expect(untold).toEqual([])
  expect(told).toContain('child done')
})
