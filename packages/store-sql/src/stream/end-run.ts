import type { SqlStatements } from '../sql-database.ts'
import { appendChunks } from './append-chunks.ts'
import type { ChunkText } from './chunk-text.ts'
import type { StreamLimits } from './stream-limits.ts'
import { closeStream, findRun } from './stream-rows.ts'

export interface RunToEnd {
  readonly streamId: string
  /** Only this run is ended. */
  readonly agentId: string | undefined
  /** Its last chunk, unless it has ended before. */
  readonly last: ChunkText | undefined
}

/** @returns the stream, unless another run than the one that is named holds it */
export function endRun(
  sql: SqlStatements,
  { streamId, agentId, last }: RunToEnd,
  limits: StreamLimits,
): number | undefined {
  const head = findRun(sql, streamId, agentId)
  if (head === undefined) return undefined
  const { id: stream, writer } = head
  if (last !== undefined) appendChunks(sql, { stream, writer }, [last], limits)
  closeStream(sql, stream)
  return stream
}
