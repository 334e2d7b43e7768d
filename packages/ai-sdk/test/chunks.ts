import type { SequencedChunk, StreamChunk } from '@helix-agents/core/runtime'
import { toUIMessageStream, type UIMessageStreamOptions } from '@helix-agents/ai-sdk'
import { readUIMessageStream, type UIMessage, type UIMessageChunk } from 'ai'

type Said = StreamChunk extends infer Chunk
  ? Chunk extends StreamChunk
    ? Omit<Chunk, 'agentId' | 'agentType' | 'timestamp'>
    : never
  : never

/** Chunks of a run, numbered; some of them of another one. */
export async function* run(
  ...chunks: (Said & { readonly agentId?: string; readonly agentType?: string })[]
): AsyncGenerator<SequencedChunk> {
  let sequence = 0
  for (const chunk of chunks) {
    sequence += 1
    const base = { agentId: 'run-1', agentType: 'writer', timestamp: 1, sequence }
    yield { ...base, ...chunk }
  }
}

export async function chunksOf(
  chunks: AsyncIterable<SequencedChunk>,
  options?: UIMessageStreamOptions,
): Promise<UIMessageChunk[]> {
  const said: UIMessageChunk[] = []
  for await (const chunk of toUIMessageStream(chunks, options)) said.push(chunk)
  return said
}

/** The message that the chat of the SDK makes of them. It throws at a chunk that it does not expect. */
export async function messageOf(
  chunks: AsyncIterable<SequencedChunk>,
  options?: UIMessageStreamOptions,
): Promise<{ readonly message: UIMessage | undefined; readonly errors: readonly string[] }> {
  const errors: string[] = []
  let message: UIMessage | undefined
  const stream = toUIMessageStream(chunks, options)
  const onError = (error: unknown): void => void errors.push((error as Error).message)
  for await (const next of readUIMessageStream({ stream, onError })) message = next
  return { message, errors }
}
