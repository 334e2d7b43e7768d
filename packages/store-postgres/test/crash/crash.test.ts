// No lost step, no doubled effect, no write of a stale owner, no gap in a stream.
// `HELIX_SEED` repeats the choices of a run, as far as timing allows.
import { defineAgent, type Message, MockLLMAdapter } from '@helix-agents/core'
import type { SequencedChunk, SessionStateStore } from '@helix-agents/core/runtime'
import { TestSampler } from '@helix-agents/core/testing'
import { JSAgentExecutor } from '@helix-agents/runtime-js'
import { expect, onTestFinished, test } from 'vitest'
import { emptyPlace, opened } from '../opened.ts'
import { CrashLab, type Fate } from './crash-lab.ts'
import { AGENT, callId, textOf } from './crash-plan.ts'

const sampler = new TestSampler()
const kills = sampler.size(300, 9)
const steps = sampler.size(40, 8)
const sessionIds = Array.from({ length: sampler.size(30, 4) }, (_, n) => `s${n}`)
const leaseMs = 500
const agent = defineAgent({ name: AGENT, llmConfig: { model: {} } })

test(
  `three processes on one server survive ${kills} kills`,
  { timeout: sampler.size(600_000, 120_000) },
  async () => {
    const url = await emptyPlace()
    const lab = new CrashLab({ url, sessionIds, steps, leaseMs })
    onTestFinished(() => lab.remove())
    await lab.build()
    await lab.run(fates())
    const { stateStore, streamManager } = await opened(url)
    const executor = new JSAgentExecutor(stateStore, streamManager, new MockLLMAdapter([]))
    const effects = lab.effects()
    const findings: string[] = []
    for (const sessionId of sessionIds) {
      findings.push(...(await judgeSession(stateStore, sessionId, effects)))
      findings.push(...(await judgeStream(executor, sessionId)))
    }
    expect({ seed: sampler.seed, findings }).toEqual({ seed: sampler.seed, findings: [] })
    // When a session ends early, fewer processes are there to be killed.
    expect(lab.killed).toBeGreaterThan(0)
  },
)

/** Most die at a point, some at any moment, and every fourth is frozen instead. */
function fates(): readonly Fate[] {
  const random = sampler.random('fates')
  return Array.from({ length: kills }, (_, n): Fate => {
    if (n % 4 === 3) return { kind: 'frozen', afterMs: 200 + random() * 800 }
    if (n % 2 === 1) return { kind: 'moment', afterMs: 200 + random() * 800 }
    return { kind: 'point', dieAtPoint: 4 + Math.floor(random() * 120) }
  })
}

async function judgeSession(
  store: SessionStateStore,
  sessionId: string,
  effects: readonly string[],
): Promise<readonly string[]> {
  const session = await store.loadSession(sessionId)
  const { messages } = await store.loadMessages(sessionId)
  const { items } = await store.listCheckpoints(sessionId, { limit: 200 })
  const findings: string[] = []
  const expected = [sessionId, ...planned(sessionId)]
  const found = messages.map(nameOf)
  if (found.join() !== expected.join()) findings.push(`${sessionId} says ${found.join()}`)
  if (session?.status !== 'completed') findings.push(`${sessionId} is ${session?.status}`)
  if (session?.stepCount !== steps || items.length !== steps)
    findings.push(`${sessionId} lost steps`)
  for (const message of messages) findings.push(...judgeEffect(message, effects))
  return findings
}

function planned(sessionId: string): readonly string[] {
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
  sessionId: string,
): Promise<readonly string[]> {
  const chunks: SequencedChunk[] = []
  const handle = await executor.getHandle(agent, sessionId)
  for await (const chunk of handle?.stream() ?? []) chunks.push(chunk)
  const said = new Set(chunks.map((chunk) => (chunk.type === 'text_delta' ? chunk.delta : '')))
  const missing = planned(sessionId).filter((text) => !text.startsWith('result') && !said.has(text))
  const gaps = chunks.filter((chunk, at) => chunk.sequence !== (chunks[0]?.sequence ?? 0) + at)
  return [
    ...missing.map((text) => `the stream never said ${text}`),
    ...gaps.slice(0, 1).map(({ sequence }) => `${sessionId} has a gap before ${sequence}`),
    ...(chunks.at(-1)?.type === 'output' ? [] : [`${sessionId} ends without its output`]),
  ]
}
