// What a session that waited must show in the end, whatever was killed.
import { existsSync, readFileSync } from 'node:fs'
import type { Message } from '@helix-agents/core'
import type { SessionRequest } from '@helix-agents/core/runtime'
import { opened } from '../../script.ts'
import { MESSAGES, SESSION, type WaitingTask } from './waiting-session.ts'

export interface Findings {
  /** What ran, in its order. */
  readonly effects: readonly string[]
  readonly findings: readonly string[]
  /** Calls of which the model was told that their outcome is unknown. */
  readonly unknown: number
  /** Calls of which the model was told that they ran. */
  readonly ran: number
}

const ANSWERED: Readonly<Record<string, string>> = {
  approved: 'approve',
  denied: 'deny',
  edited: 'approve',
  below: 'approve',
}

export async function findingsOf({ database, effectLog }: WaitingTask): Promise<Findings> {
  const { stateStore } = await opened(database)
  const effects = effectsIn(effectLog)
  const head = await stateStore.loadSession(SESSION)
  const { items } = await stateStore.listRequests({ now: Date.now() })
  const findings = Object.keys(ANSWERED).flatMap((id) =>
    judgeRequests(
      id,
      items.filter((one) => idOf(one.arguments) === id),
    ),
  )
  if (head?.status !== 'completed') findings.push(`the session is ${head?.status}`)
  const { messages: all } = await stateStore.loadMessages(SESSION)
  const said = all.flatMap((one) => (one.role === 'user' ? [one.content] : []))
  const meant = ['go', ...MESSAGES.map(({ text }) => text)]
  if (said.join() !== meant.join()) findings.push(`the user said ${said.join(', ')}`)
  let [unknown, ran] = [0, 0]
  for (const sessionId of [SESSION, `${SESSION}/s2-1`]) {
    const { messages } = await stateStore.loadMessages(sessionId)
    const judged = judgeMessages(messages, effects)
    findings.push(...judged.findings.map((finding) => `${sessionId}: ${finding}`))
    unknown += judged.unknown
    ran += judged.ran
  }
  return { effects, findings, unknown, ran }
}

function effectsIn(effectLog: string): readonly string[] {
  if (!existsSync(effectLog)) return []
  return readFileSync(effectLog, 'utf8').trim().split('\n').map(idOf)
}

/** Each call has its result, and what is said to have run did. */
function judgeMessages(
  messages: readonly Message[],
  effects: readonly string[],
): Omit<Findings, 'effects'> {
  const findings: string[] = []
  const asked = messages.flatMap((one) => (one.role === 'assistant' ? (one.toolCalls ?? []) : []))
  const results = messages.filter((one) => one.role === 'tool')
  if (asked.length !== results.length) findings.push('a call without its result')
  const said = results.map(({ content }) => JSON.stringify(content))
  const ran = said.flatMap((text) => /recorded \{\\+"id\\+":\\+"(.*?)\\+"\}/.exec(text)?.[1] ?? [])
  for (const id of ran) {
    if (!effects.includes(id)) findings.push(`said to have run, and did not: ${id}`)
  }
  const unknown = said.filter((text) => text.includes('unknown')).length
  return { findings, unknown, ran: ran.length }
}

function judgeRequests(id: string, requests: readonly SessionRequest[]): readonly string[] {
  const [request, ...more] = requests
  if (request === undefined) return [`${id}: no request`]
  const decision = request.resolution?.decision
  return [
    ...(more.length > 0 ? [`${id}: asked ${requests.length} times`] : []),
    ...(decision === ANSWERED[id] ? [] : [`${id}: ${decision}`]),
    ...(request.arguments === JSON.stringify({ id }) ? [] : [`${id}: ${request.arguments}`]),
    ...(decision === 'deny' && request.startedAt !== undefined ? [`${id}: started`] : []),
  ]
}

function idOf(json: string): string {
  return (JSON.parse(json) as { readonly id: string }).id
}
