// What must be true of a session, however often its process died.
import type { AssistantMessage, Message, ToolResultMessage } from '@helix-agents/core'
import type { SequencedChunk, SessionState } from '@helix-agents/core/runtime'
import { type CustomState, type Effects, textOf } from './crash-agents.ts'
import type { Aftermath } from './crash-world.ts'

/** Everything about a session that must hold however often its process died. */
export interface Findings {
  readonly status: string
  /** Id → what is wrong with it. */
  readonly problems: readonly string[]
}

export function examine(after: Aftermath): Findings {
  const problems = [
    ...problemsOfMessages(after.messages, 'Go'),
    ...(after.child === null ? [] : problemsOfMessages(after.childMessages, '{"task":"t"}')),
    ...problemsOfEffects(after),
    ...problemsOfState(after.session, after.messages),
    ...(after.child === null ? [] : problemsOfState(after.child, after.childMessages)),
    ...problemsOfStream('replayed', after.replayed),
    ...problemsOfStream('followed', after.followed),
    ...problemsOfLastChunk('replayed', after.replayed),
    ...problemsOfEnd(after),
  ]
  return { status: after.session.status, problems }
}

/** One user message; each call has one result, in the order of the calls. */
function problemsOfMessages(messages: readonly Message[], asked: string): string[] {
  const problems: string[] = []
  const said = messages.filter(({ role }) => role === 'user').map(({ content }) => content)
  if (said.length !== 1 || said[0] !== asked) problems.push(`user said ${JSON.stringify(said)}`)
  for (const [index, message] of messages.entries()) {
    if (message.role !== 'assistant') continue
    const wanted = callIdsOf(message)
    const next = messages.slice(index + 1)
    const end = next.findIndex(({ role }) => role !== 'tool')
    const results = (end === -1 ? next : next.slice(0, end)) as readonly ToolResultMessage[]
    const got = results.map(({ toolCallId }) => toolCallId)
    if (got.join() !== wanted.join()) problems.push(`calls ${wanted.join()}, results ${got.join()}`)
  }
  const steps = messages
    .filter(({ role }) => role === 'assistant')
    .map(({ content }) => JSON.stringify(content))
  if (new Set(steps).size !== steps.length) problems.push(`steps ${steps.join()}`)
  return problems
}

function callIdsOf({ toolCalls = [] }: AssistantMessage): readonly string[] {
  return toolCalls.map(({ id }) => id)
}

/** A call took effect once, or its outcome is called unknown; nothing else happened. */
function problemsOfEffects({ messages, childMessages, effects }: Aftermath): string[] {
  const problems: string[] = []
  const results = [...messages, ...childMessages].filter((message) => message.role === 'tool')
  const known = new Map(results.map((result) => [result.toolCallId, result]))
  for (const [id, done] of effects) {
    if (!known.has(id)) problems.push(`${id} had an effect that nobody knows of`)
    if (done.length > 1) problems.push(`${id} had ${done.length} effects`)
  }
  return [...problems, ...problemsOfResults(results, effects)]
}

function problemsOfResults(results: readonly ToolResultMessage[], effects: Effects): string[] {
  const problems: string[] = []
  let isFileUnknown = false
  for (const result of results) {
    const count = effects.get(result.toolCallId)?.length ?? 0
    const problem = problemOfResult(result, count)
    const text = textOf(result)
    // What may have been written must be looked at before it is written again.
    if (isFileUnknown && text.includes('[stale-write]')) continue
    isFileUnknown ||= result.toolName.endsWith('write_file') && text.includes('[outcome-unknown]')
    if (problem !== undefined) problems.push(`${result.toolCallId} ${problem}`)
  }
  return problems
}

/** What the result of a call says must go with the effects that the call had. */
function problemOfResult(result: ToolResultMessage, count: number): string | undefined {
  const text = textOf(result)
  if (!['charge', 'bill', 'wrap_up'].includes(result.toolName)) {
    return result.isError && !text.includes('[outcome-unknown]') ? `failed: ${text}` : undefined
  }
  if (!result.isError) return count === 1 ? undefined : `succeeded with ${count} effects`
  if (text.includes('[not-started]')) return count === 0 ? undefined : 'did start'
  return text.includes('[outcome-unknown]') ? undefined : `failed: ${text}`
}

/** The custom state is what the calls did whose results the model has. */
function problemsOfState({ customState }: SessionState, messages: readonly Message[]): string[] {
  const state = (customState ?? {}) as CustomState
  const done = (...names: readonly string[]): readonly string[] =>
    messages
      .filter((message) => message.role === 'tool')
      .filter(({ toolName, isError }) => names.includes(toolName) && isError !== true)
      .map(({ toolCallId }) => toolCallId)
  const wanted = {
    charged: done('charge', 'bill').toSorted(),
    counts: done('count').length,
    looks: done('look').length,
  }
  const got = {
    charged: [...(state.charged ?? [])].toSorted(),
    counts: state.counts ?? 0,
    looks: state.looks ?? 0,
  }
  const [a, b] = [JSON.stringify(got), JSON.stringify(wanted)]
  return a === b ? [] : [`state ${a}, calls did ${b}`]
}

/** Sequence numbers rise by one; only a resync may skip some. */
function problemsOfStream(name: string, chunks: readonly SequencedChunk[]): string[] {
  const problems: string[] = []
  for (const [index, chunk] of chunks.entries()) {
    const before = chunks[index - 1]
    if (before === undefined || chunk.sequence === before.sequence + 1) continue
    const isTold = chunk.type === 'stream_resync' && chunk.sequence > before.sequence
    if (!isTold) problems.push(`${name}: ${chunk.sequence} after ${before.sequence}`)
  }
  return problems
}

/** Who reads the whole stream is told once how it ended, and nothing after that. */
function problemsOfLastChunk(name: string, chunks: readonly SequencedChunk[]): string[] {
  const places = chunks.flatMap(({ type }, index) => (type === 'output' ? [index] : []))
  return places.join() === String(chunks.length - 1) ? [] : [`${name}: outputs at ${places.join()}`]
}

function problemsOfEnd({ session, messages, child, isLeftRunning }: Aftermath): string[] {
  const problems: string[] = []
  const ends = messages.filter(
    (message) => message.role === 'tool' && message.toolName === 'wrap_up' && !message.isError,
  )
  if (ends.length !== 1) problems.push(`${ends.length} calls ended the run`)
  const { output } = session
  if (!JSON.stringify(output ?? null).includes('wrapped up')) {
    problems.push(`output ${JSON.stringify(output)}`)
  }
  if (isLeftRunning) problems.push('an outcome is left')
  if (Object.keys(session.workspaceRefs).length > 0) problems.push('a workspace is left')
  if (child !== null && child.status !== 'completed') problems.push(`child ${child.status}`)
  if (child !== null && Object.keys(child.workspaceRefs).length > 0) {
    problems.push('a workspace of the child is left')
  }
  return problems
}
