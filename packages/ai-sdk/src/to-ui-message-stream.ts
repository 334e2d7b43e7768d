import type { SequencedChunk } from '@helix-agents/core/runtime'
import type { UIMessageChunk } from 'ai'
import { MessageParts } from './message-parts.ts'
import type { UIMessageStreamOptions } from './stream-options.ts'

/**
 * Converts the stream of a run to the UI message stream of the AI SDK: one assistant message, with a
 * part for each text, thought and tool call. Give it the stream from the start of a run, such as
 * `handle.stream()`. A call that waits for a person is a tool approval. A run that ends without an
 * output and does not wait, since it was paused or aborted, is reported as aborted. Canceling the result stops reading; the run continues.
 */
export function toUIMessageStream(
  chunks: AsyncIterable<SequencedChunk>,
  options: UIMessageStreamOptions = {},
): ReadableStream<UIMessageChunk> {
  const parts = new MessageParts(options)
  const reader = chunks[Symbol.asyncIterator]()
  return new ReadableStream<UIMessageChunk>({
    async pull(controller) {
      let said: readonly UIMessageChunk[] = []
      let isDone = false
      // A chunk that says nothing to a chat must not end the pulling.
      while (said.length === 0 && !isDone) {
        const next = await reader.next()
        isDone = next.done === true
        said = next.done === true ? parts.end() : parts.take(next.value)
      }
      for (const chunk of said) controller.enqueue(chunk)
      if (isDone) controller.close()
    },
    async cancel() {
      await reader.return?.()
    },
  })
}
