import { type JournalEntry, subAgentOf, type ToolError } from '@helix-agents/core/runtime'
import type { RunOutcome } from '../agent-result.ts'
import { abortSubAgents } from '../session/abort-session.ts'
import { NOT_STARTED, OUTCOME_UNKNOWN, STOPPED, WITHDRAWN } from '../call/cut-off-calls.ts'
import { failCall } from '../call/dispatch-call.ts'
import type { PlacedCall, Run } from '../ports.ts'
import { requestOf } from '../request/admit-call.ts'
import { cancelRequests, loadRequests } from '../request/live-requests.ts'
import { examineOpenCalls, type OpenCall } from './open-calls.ts'
import { subSessionIdOf } from '../session/sub-session.ts'
import { runCalls, type StoredResults } from './tool-step.ts'

/**
 * Resumes the step that an earlier run left: stored results are kept, reads and idempotent calls run
 * again, sub-agents are resumed, answered requests are acted on, and what waits for a person waits on.
 * Every other call is reported to the model as not started, or as unknown.
 */
export async function resumeStep(
  run: Run,
  open: readonly PlacedCall[],
): Promise<RunOutcome | undefined> {
  const journal = await loadJournal(run)
  await loadRequests(run)
  const calls = open.map((placed) => withEntry(placed, journal.get(placed.call.id)))
  const states = examineOpenCalls(run, calls, journal)
  const stored: StoredResults = new Map()
  for (const placed of calls) {
    const result = journal.get(placed.call.id)?.result
    if (result === undefined) continue
    stored.set(placed, result)
    await countSubAgent(run, placed)
  }
  const isLast = calls.every((placed) => states.get(placed)?.state !== 'ready')
  for (const placed of calls) {
    const error = errorOf(states.get(placed))
    if (error === undefined) continue
    const end = failCall(run, placed.call, error)
    // What is said of a call must stay true when the calls that run again have results of their own.
    if (!isLast && placed.isJournaled) await run.recorder.recordCall(placed.call, end)
    stored.set(placed, end)
  }
  return runCalls(run, calls, stored)
}

function errorOf(open: OpenCall | undefined): ToolError | undefined {
  if (open?.state === 'not-started') return NOT_STARTED
  return open?.state === 'unknown' ? OUTCOME_UNKNOWN : undefined
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
  await loadRequests(run)
  await cancelRequests(run)
  const open = calls.map((placed) => withEntry(placed, journal.get(placed.call.id)))
  const states = examineOpenCalls(run, open, journal)
  const results = open.map((placed) => {
    const entry = journal.get(placed.call.id)
    if (entry?.result !== undefined) return entry.result.message
    return failCall(run, placed.call, settledError(run, placed, states.get(placed))).message
  })
  await run.recorder.commit(results)
}

function settledError(run: Run, placed: PlacedCall, open: OpenCall | undefined): ToolError {
  if (open?.isUnstarted === true) {
    return requestOf(run, placed) === undefined ? NOT_STARTED : WITHDRAWN
  }
  return placed.isJournaled ? OUTCOME_UNKNOWN : STOPPED
}

async function loadJournal(run: Run): Promise<ReadonlyMap<string, JournalEntry>> {
  const entries = await run.services.stateStore.loadJournal(run.sessionId)
  return new Map(entries.map((entry) => [entry.toolCallId, entry]))
}

function withEntry(placed: PlacedCall, entry: JournalEntry | undefined): PlacedCall {
  if (entry === undefined) return placed
  const { startedAt, asks = false } = entry
  return { ...placed, startedAt, isJournaled: true, asks }
}
