import type { SequencedChunk } from '@helix-agents/core/runtime'
import { type Evidence, type Finding, finding, outcomeOf, resultsOf } from './evidence.ts'

type StreamEvidence = Pick<Evidence, 'plans' | 'sessions' | 'chunks' | 'hasStreamEnded'>

/** The numbers rise by one, and who only reads the stream learns of every step and every result. */
export function judgeStream(evidence: StreamEvidence): readonly Finding[] {
  const { chunks, hasStreamEnded } = evidence
  return [
    ...judgeNumbers(chunks),
    ...judgeTexts(evidence),
    ...judgeToolEnds(evidence),
    ...(chunks.at(-1)?.type === 'output'
      ? []
      : [finding('output-untold', 'the stream ends without it')]),
    ...(hasStreamEnded ? [] : [finding('stream-unended', 'its readers would wait for ever')]),
  ]
}

function judgeNumbers(chunks: readonly SequencedChunk[]): readonly Finding[] {
  // A start that failed is followed by another one: the client, who has seen nothing, starts anew.
  const first = chunks.findIndex(({ type }) => type !== 'stream_resync')
  return chunks.slice(Math.max(first, 0)).flatMap((chunk, index, rest) => {
    const { sequence, type } = chunk
    if (type === 'stream_resync')
      return [finding('stream-resync', `${chunk.reason} at ${sequence}`)]
    const before = rest[index - 1]
    if (before === undefined || sequence === before.sequence + 1) return []
    return [finding('stream-gap', `${sequence} after ${before.sequence}`)]
  })
}

function judgeTexts({ plans, chunks }: StreamEvidence): readonly Finding[] {
  const said = new Set(chunks.map((chunk) => (chunk.type === 'text_delta' ? chunk.delta : '')))
  const steps = plans.flatMap((plan) => plan.steps)
  return steps
    .filter(({ content }) => !said.has(content))
    .map(({ content }) => finding('stream-incomplete', `never said: ${content}`))
}

/** The last that the stream says of a call is what the model was told. */
function judgeToolEnds({ sessions, chunks }: StreamEvidence): readonly Finding[] {
  const ends = new Map(
    chunks.flatMap((chunk) => (chunk.type === 'tool_end' ? [[chunk.toolCallId, chunk]] : [])),
  )
  return sessions.flatMap(({ messages }) =>
    [...resultsOf(messages)].flatMap(([id, result]) => {
      const isSuccess = outcomeOf(result) === 'done'
      const end = ends.get(id)
      if (end?.success === isSuccess) return []
      const said = end === undefined ? 'nothing' : end.success ? 'success' : end.error?.code
      return [finding('stream-incomplete', `${id}: the stream says ${said}`)]
    }),
  )
}
