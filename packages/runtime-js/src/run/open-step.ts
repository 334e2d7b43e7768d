import {
  type JournalEntry,
  subAgentOf,
  type ToolCall,
  type ToolError,
  toToolError,
  WorkspaceEvictedError,
} from '@helix-agents/core'
import type { RunOutcome } from '../agent-result.ts'
import { abortSubAgents } from '../abort-paused.ts'
import { type CallResult, failCall } from './dispatch-call.ts'
import type { PlacedCall } from './find-open-calls.ts'
import type { Run } from './run.ts'
import { runOpenCalls } from './tool-step.ts'

/**
 * Goes on with the step that an earlier run left: results that were stored are kept, reads and
 * harmless calls run again, sub-agents go on, and of every other call the model is told that its
 * outcome is unknown.
 */
export async function goOnWithStep(
  run: Run,
  calls: readonly PlacedCall[],
): Promise<RunOutcome | undefined> {
  const journal = await loadJournal(run)
  const known = new Map<PlacedCall, CallResult>()
  for (const placed of calls) {
    const entry = journal.get(placed.call.id)
    if (entry?.result !== undefined) known.set(placed, { message: entry.result.message })
    else if (entry !== undefined && !mayRunAgain(run, placed.call)) {
      known.set(placed, failCall(run, placed.call, OUTCOME_UNKNOWN))
    }
  }
  return runOpenCalls(run, calls, known)
}

/** Ends the step that an earlier run left without running anything: the user has moved on. */
export async function settleStep(run: Run, calls: readonly PlacedCall[]): Promise<void> {
  if (calls.length === 0) return
  const { services, agent, sessionId, stepCount } = run
  await abortSubAgents(services, agent, { sessionId, stepCount, calls })
  const journal = await loadJournal(run)
  const results = calls.map(({ call }) => {
    const entry = journal.get(call.id)
    if (entry?.result !== undefined) return entry.result.message
    return failCall(run, call, entry === undefined ? STOPPED : OUTCOME_UNKNOWN).message
  })
  await run.commit(results)
}

async function loadJournal(run: Run): Promise<ReadonlyMap<string, JournalEntry>> {
  const entries = await run.services.stateStore.loadJournal(run.sessionId)
  return new Map(entries.map((entry) => [entry.toolCallId, entry]))
}

function mayRunAgain({ toolSet }: Run, call: ToolCall): boolean {
  const tool = toolSet.tools.byName.get(call.name)
  return tool !== undefined && (tool.annotations.idempotent || subAgentOf(tool) !== undefined)
}

const STOPPED: ToolError = toToolError(new DOMException('', 'AbortError'))

const OUTCOME_UNKNOWN: ToolError = toToolError(
  new WorkspaceEvictedError(
    'The process stopped while this call was running: it may have taken effect or not.',
    { code: 'outcome-unknown', hint: 'Look at the result before you do it again.' },
  ),
)
