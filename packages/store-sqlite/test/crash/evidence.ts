// What is left after many deaths, and what can be found wrong with it.
import type { JsonValue, Message, ToolResultMessage } from '@helix-agents/core'
import type { SequencedChunk } from '@helix-agents/core/runtime'
import type { PlannedSession } from './session-plan.ts'

export interface StoredSession {
  readonly sessionId: string
  readonly status: string
  readonly stepCount: number
  readonly messages: readonly Message[]
  readonly customState: JsonValue | undefined
}

/** What is left at the end. */
export interface Evidence {
  readonly plans: readonly PlannedSession[]
  readonly sessions: readonly StoredSession[]
  /** Ids of effects, as often as they appear in the log and in the files. */
  readonly effects: readonly string[]
  /** What a client of the main session has got, over all its connections. */
  readonly chunks: readonly SequencedChunk[]
  /** Whether that client was told that there will be no more. */
  readonly hasStreamEnded: boolean
  /** After reaping. */
  readonly directories: readonly string[]
  readonly processes: readonly string[]
  /** What SQLite says of its file, but `ok`. */
  readonly damage: readonly string[]
}

export type FindingCode =
  | 'session-missing'
  | 'session-unplanned'
  | 'session-unfinished'
  | 'message-lost'
  | 'message-doubled'
  | 'message-wrong'
  | 'result-missing'
  | 'result-doubled'
  | 'result-wrong'
  | 'effect-doubled'
  | 'effect-missing'
  | 'effect-denied'
  | 'effect-unplanned'
  | 'stream-gap'
  | 'stream-resync'
  | 'stream-incomplete'
  | 'stream-unended'
  | 'output-untold'
  | 'directory-left'
  | 'process-left'
  | 'database-damaged'

export interface Finding {
  readonly code: FindingCode
  readonly detail: string
}

export interface Verdict {
  readonly findings: readonly Finding[]
  /** Calls that have an effect, by what the model was told of them. */
  readonly told: Readonly<Record<Outcome, number>>
}

/** What the model was told of a call. */
export type Outcome = 'done' | 'unknown' | 'not-started' | 'failed'

export function finding(code: FindingCode, detail: string): Finding {
  return { code, detail }
}

/** What a result says of its call; `undefined` when there is none. */
export function outcomeOf(result: ToolResultMessage | undefined): Outcome | undefined {
  if (result === undefined) return undefined
  if (result.isError !== true) return 'done'
  const text = textOf(result)
  if (text.includes('[outcome-unknown]')) return 'unknown'
  return text.includes('[not-started]') ? 'not-started' : 'failed'
}

export function textOf({ content }: ToolResultMessage): string {
  return typeof content === 'string' ? content : JSON.stringify(content)
}

export function resultsOf(messages: readonly Message[]): ReadonlyMap<string, ToolResultMessage> {
  const results = messages.filter((message) => message.role === 'tool')
  return new Map(results.map((result) => [result.toolCallId, result]))
}
