import type { SequencedChunk } from '@helix-agents/core/runtime'
import type { UIMessageChunk } from 'ai'
import { MessageParts } from './message-parts.ts'

export interface UIMessageStreamOptions {
  /** Id of the message that the chunks make. Default: the id of the run that they begin with. */
  readonly messageId?: string
  /**
   * What the user reads of an error of the run, a tool or a sub-agent. Default: the message, which
   * was made to be shown.
   */
  readonly errorText?: (error: { readonly code: string; readonly message: string }) => string
}

/**
 * What a run says, as a chat of the AI SDK reads it: one assistant message, with a part for each
 * text, thought and tool call. Give it the stream of a run from its start, such as
 * `handle.stream()`. A run that ends without an output, since it was paused or aborted, is told as
 * aborted. Whoever cancels the stream stops reading; the run goes on.
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
