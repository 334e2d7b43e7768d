// No lost step, no doubled effect, no write of a stale owner, no gap in a stream.
import { defineAgent, type Message, MockLLMAdapter } from '@helix-agents/core'
import type { SequencedChunk, SessionStateStore } from '@helix-agents/core/runtime'
import { JSAgentExecutor } from '@helix-agents/runtime-js'
import type { PostgresStores } from '@helix-agents/store-postgres'
import { AGENT, callId, type CrashPlan, textOf } from './crash-plan.ts'

const ENDS_WITHIN_MS = 120_000
const agent = defineAgent({ name: AGENT, llmConfig: { model: {} } })

interface Judged {
  readonly sessionId: string
  readonly steps: number
}

/** What is wrong with sessions that are done, and with what happened meanwhile. */
export async function judge(
  { stateStore, streamManager }: Pick<PostgresStores, 'stateStore' | 'streamManager'>,
  { sessionIds, steps }: Pick<CrashPlan, 'sessionIds' | 'steps'>,
  effects: readonly string[],
): Promise<readonly string[]> {
  const executor = new JSAgentExecutor(stateStore, streamManager, new MockLLMAdapter([]))
  const findings: string[] = []
  for (const sessionId of sessionIds) {
    findings.push(...(await judgeSession(stateStore, { sessionId, steps }, effects)))
    findings.push(...(await judgeStream(executor, { sessionId, steps })))
  }
  return findings
}

async function judgeSession(
  store: SessionStateStore,
  { sessionId, steps }: Judged,
  effects: readonly string[],
): Promise<readonly string[]> {
  const session = await store.loadSession(sessionId)
  const { messages } = await store.loadMessages(sessionId)
  const { items } = await store.listCheckpoints(sessionId, { limit: 200 })
  const findings: string[] = []
  const expected = [sessionId, ...planned({ sessionId, steps })]
  const found = messages.map(nameOf)
  if (found.join() !== expected.join()) findings.push(`${sessionId} says ${found.join()}`)
  if (session?.status !== 'completed') findings.push(`${sessionId} is ${session?.status}`)
  if (session?.stepCount !== steps || items.length !== steps)
    findings.push(`${sessionId} lost steps`)
  for (const message of messages) findings.push(...judgeEffect(message, effects))
  return findings
}

function planned({ sessionId, steps }: Judged): readonly string[] {
  return Array.from({ length: steps }, (_, n) => n + 1).flatMap((step) =>
    step === steps
      ? [textOf(sessionId, step)]
      : [textOf(sessionId, step), `result ${callId(sessionId, step)}`],
  )
}

function nameOf(message: Message): string {
  return message.role === 'tool' ? `result ${message.toolCallId}` : message.content
}

/** What the model was told of an effect fits how often it happened. */
function judgeEffect(message: Message, effects: readonly string[]): readonly string[] {
  if (message.role !== 'tool') return []
  const times = effects.filter((id) => id === message.toolCallId).length
  const told = JSON.stringify(message.content)
  const isDone = told.includes('recorded')
  const isUnknown = told.includes('[outcome-unknown]')
  const fits = isDone ? times === 1 : isUnknown ? times <= 1 : times === 0
  return fits ? [] : [`${message.toolCallId} happened ${times} times, told ${told}`]
}

/** A process may die between the end of its session and that of the stream: readers see to it. */
async function judgeStream(
  executor: JSAgentExecutor,
  { sessionId, steps }: Judged,
): Promise<readonly string[]> {
  const chunks: SequencedChunk[] = []
  const handle = await executor.getHandle(agent, sessionId)
  // One that never ends is a finding as well.
  const signal = AbortSignal.timeout(ENDS_WITHIN_MS)
  for await (const chunk of handle?.stream({ signal }) ?? []) chunks.push(chunk)
  const said = new Set(chunks.map((chunk) => (chunk.type === 'text_delta' ? chunk.delta : '')))
  const missing = planned({ sessionId, steps }).filter(
    (text) => !text.startsWith('result') && !said.has(text),
  )
  const gaps = chunks.filter((chunk, at) => chunk.sequence !== (chunks[0]?.sequence ?? 0) + at)
  return [
    ...missing.map((text) => `the stream never said ${text}`),
    ...gaps.slice(0, 1).map(({ sequence }) => `${sessionId} has a gap before ${sequence}`),
    ...(chunks.at(-1)?.type === 'output' ? [] : [`${sessionId} ends without its output`]),
  ]
}
