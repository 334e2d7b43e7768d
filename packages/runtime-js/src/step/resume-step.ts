import type { ToolCall } from '@helix-agents/core'
import { type JournalEntry, subAgentOf } from '@helix-agents/core/runtime'
import type { RunOutcome } from '../agent-result.ts'
import { abortSubAgents } from '../session/abort-session.ts'
import { NOT_STARTED, OUTCOME_UNKNOWN, STOPPED } from '../call/cut-off-calls.ts'
import { failCall } from '../call/dispatch-call.ts'
import type { PlacedCall } from '../ports.ts'
import type { Run } from '../ports.ts'
import { findNotStarted } from './schedule-calls.ts'
import { subSessionIdOf } from '../session/sub-session.ts'
import { runCalls, type StoredResults } from './tool-step.ts'

/**
 * Resumes the step that an earlier run left: stored results are kept, reads and idempotent calls run
 * again, sub-agents are resumed, and every other call is reported to the model as not started, or
 * as unknown.
 */
export async function resumeStep(
  run: Run,
  open: readonly PlacedCall[],
): Promise<RunOutcome | undefined> {
  const journal = await loadJournal(run)
  const calls = open.map((placed) => withStart(placed, journal.get(placed.call.id)))
  const stored: StoredResults = new Map()
  for (const placed of calls) {
    const result = journal.get(placed.call.id)?.result
    if (result === undefined) continue
    stored.set(placed, result)
    await countSubAgent(run, placed)
  }
  const isUnknown = (placed: PlacedCall): boolean =>
    !stored.has(placed) && journal.has(placed.call.id) && !mayRunAgain(run, placed.call)
  const unknown = calls.filter(isUnknown)
  const isLast = stored.size + unknown.length === calls.length
  const notStarted = findNotStarted(run, calls, journal)
  for (const placed of unknown) {
    const end = failCall(run, placed.call, notStarted.has(placed) ? NOT_STARTED : OUTCOME_UNKNOWN)
    // What is said of a call must stay true when the calls that run again have results of their own.
    if (!isLast) await run.recorder.recordCall(placed.call, end)
    stored.set(placed, end)
  }
  return runCalls(run, calls, stored)
}

/** What a sub-agent has used is stored with its parent at the end of the step only. */
async function countSubAgent(run: Run, { call, index }: PlacedCall): Promise<void> {
  const tool = run.toolSet.tools.byName.get(call.name)
  if (tool === undefined || subAgentOf(tool) === undefined) return
  const session = await run.services.stateStore.loadSession(
    subSessionIdOf(run.sessionId, run.recorder.stepCount, index),
  )
  run.meter.countEarlier(session?.usage)
}

/** Ends the step that an earlier run left without running anything: the user has moved on. */
export async function settleStep(run: Run, calls: readonly PlacedCall[]): Promise<void> {
  if (calls.length === 0) return
  const { services, agent, sessionId, recorder } = run
  const { stepCount } = recorder
  await abortSubAgents(services, agent, { sessionId, stepCount, calls })
  const journal = await loadJournal(run)
  const notStarted = findNotStarted(run, calls, journal)
  const results = calls.map((placed) => {
    const entry = journal.get(placed.call.id)
    if (entry?.result !== undefined) return entry.result.message
    const started = entry === undefined ? STOPPED : OUTCOME_UNKNOWN
    return failCall(run, placed.call, notStarted.has(placed) ? NOT_STARTED : started).message
  })
  await run.recorder.commit(results)
}

async function loadJournal(run: Run): Promise<ReadonlyMap<string, JournalEntry>> {
  const entries = await run.services.stateStore.loadJournal(run.sessionId)
  return new Map(entries.map((entry) => [entry.toolCallId, entry]))
}

function withStart(placed: PlacedCall, entry: JournalEntry | undefined): PlacedCall {
  return entry === undefined ? placed : { ...placed, startedAt: entry.startedAt }
}

function mayRunAgain({ toolSet }: Run, call: ToolCall): boolean {
  const tool = toolSet.tools.byName.get(call.name)
  return tool !== undefined && (tool.annotations.idempotent || subAgentOf(tool) !== undefined)
}
