// Compares what is left after many deaths with what was planned. Pure: it looks at nothing itself.
import type { JsonValue } from '@helix-agents/core'
import {
  type Evidence,
  type Finding,
  finding,
  type Outcome,
  outcomeOf,
  resultsOf,
  type StoredSession,
  type Verdict,
} from './evidence.ts'
import { judgeMessages } from './judge-messages.ts'
import { judgeStream } from './judge-stream.ts'
import type { Effect, PlannedCall, PlannedSession } from './session-plan.ts'

export function judge(evidence: Evidence): Verdict {
  const sessions = new Map(evidence.sessions.map((session) => [session.sessionId, session]))
  const told: Record<Outcome, number> = { done: 0, unknown: 0, 'not-started': 0, failed: 0 }
  const findings = evidence.plans.flatMap((plan) => {
    const session = sessions.get(plan.sessionId)
    if (session === undefined) return [finding('session-missing', plan.sessionId)]
    return [
      ...judgeEnd(plan, session),
      ...judgeMessages(plan, session.messages),
      ...judgeEffects(plan, session, evidence.effects, told),
    ]
  })
  return { told, findings: [...findings, ...judgeRest(evidence), ...judgeStream(evidence)] }
}

function judgeEnd(plan: PlannedSession, session: StoredSession): readonly Finding[] {
  const { sessionId, status, stepCount } = session
  if (status === 'completed' && stepCount === plan.steps.length) return []
  return [finding('session-unfinished', `${sessionId} is ${status} at step ${stepCount}`)]
}

function judgeEffects(
  plan: PlannedSession,
  session: StoredSession,
  effects: readonly string[],
  told: Record<Outcome, number>,
): readonly Finding[] {
  const results = resultsOf(session.messages)
  const counted = countedIn(session.customState)
  return plan.steps.flatMap(({ calls }) =>
    calls.flatMap((call) => {
      const outcome = outcomeOf(results.get(call.id))
      if (outcome === undefined) return []
      if (call.effect !== 'harmless') told[outcome] += 1
      const places = call.effect === 'state' ? counted : effects
      return judgeEffect(call, outcome, places.filter((id) => id === call.id).length)
    }),
  )
}

function judgeEffect(call: PlannedCall, outcome: Outcome, times: number): readonly Finding[] {
  const detail = `${call.id}: told ${outcome}, happened ${times} times`
  if (times > 1) return [finding('effect-doubled', detail)]
  if (!allowedOutcomes(call).includes(outcome)) return [finding('result-wrong', detail)]
  if (outcome === 'not-started' && times > 0) return [finding('effect-denied', detail)]
  const isOwed = outcome === 'done' && COUNTABLE.includes(call.effect)
  return isOwed && times < 1 ? [finding('effect-missing', detail)] : []
}

const COUNTABLE: readonly Effect[] = ['once', 'state']

/** A harmless call is repeated until it has a result. */
function allowedOutcomes({ effect }: PlannedCall): readonly Outcome[] {
  return effect === 'harmless' ? ['done'] : ['done', 'unknown', 'not-started']
}

function countedIn(customState: JsonValue | undefined): readonly string[] {
  if (typeof customState !== 'object' || customState === null) return []
  const { counted = [] } = customState as { readonly counted?: readonly string[] }
  return counted
}

function judgeRest(evidence: Evidence): readonly Finding[] {
  const { plans, sessions, effects, directories, processes, damage } = evidence
  const planned = new Set(plans.map(({ sessionId }) => sessionId))
  const calls = plans.flatMap(({ steps }) => steps.flatMap((step) => step.calls))
  const ids = new Set(calls.map(({ id }) => id))
  const strangers = sessions.filter(({ sessionId }) => !planned.has(sessionId))
  return [
    ...strangers.map(({ sessionId }) => finding('session-unplanned', sessionId)),
    ...effects.filter((id) => !ids.has(id)).map((id) => finding('effect-unplanned', id)),
    ...directories.map((name) => finding('directory-left', name)),
    ...processes.map((name) => finding('process-left', name)),
    ...damage.map((text) => finding('database-damaged', text)),
  ]
}
