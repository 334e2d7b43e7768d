import type { AssistantMessage, ToolCall } from '@helix-agents/core'
import type { JournalEntry } from '@helix-agents/core/runtime'
import type { RunOutcome } from '../agent-result.ts'
import { type CallEnd, type CallResult, dispatchCall } from '../call/dispatch-call.ts'
import type { PlacedCall } from '../call/find-open-calls.ts'
import type { Run } from '../run/run.ts'
import { scheduleCalls } from './schedule-calls.ts'

/** Calls whose result is stored, or needs no storing before the end of the step. */
export type StoredResults = Map<PlacedCall, CallResult>

/** Stores the answer of the model, runs its tool calls and stores their results. */
export async function runToolStep(
  run: Run,
  step: { readonly message: AssistantMessage; readonly toolCalls: readonly ToolCall[] },
): Promise<RunOutcome | undefined> {
  await run.chunks.flush()
  const write = run.write()
  const changing = step.toolCalls.filter((call) => isJournaled(run, call))
  const journal = changing.map((call) => toJournalEntry(call, write.now))
  const messages = [step.message]
  const spending = run.takeSpending()
  await run.services.stateStore.beginStep({ ...write, ...spending, messages, journal })
  run.messages.push(step.message)
  const calls = step.toolCalls.map((call, index) => ({ call, index, isRecovered: false }))
  return runCalls(run, calls, new Map())
}

/** Runs all calls of a step but those whose result is stored, and stores the step. */
export async function runCalls(
  run: Run,
  calls: readonly PlacedCall[],
  stored: StoredResults,
): Promise<RunOutcome | undefined> {
  const ends = await endsOf(run, calls, stored)
  const results = ends.filter((end) => end !== 'open')
  if (results.length < ends.length) {
    await noteAll(run, calls, { ends, stored })
    return { status: 'interrupted' }
  }
  const finish = results.find((result) => result.finish !== undefined)?.finish
  const outcome = finish && ({ status: 'completed', output: finish.output } as const)
  await run.commit(
    results.map((result) => result.message),
    outcome,
  )
  return outcome
}

/** All calls of a step, in parallel where that changes nothing; results in the order of calls. */
async function endsOf(
  run: Run,
  calls: readonly PlacedCall[],
  stored: StoredResults,
): Promise<CallEnd[]> {
  const [only] = calls
  if (calls.length === 1 && only !== undefined) {
    return [stored.get(only) ?? (await startCall(run, only))]
  }
  const waitsFor = scheduleCalls(run, calls)
  const ends: Promise<CallEnd>[] = []
  let running = calls.length
  const runOne = async (placed: PlacedCall, earlier: readonly number[]): Promise<CallEnd> => {
    for (const index of earlier) await ends[index]
    const known = stored.get(placed)
    const end = known ?? (await startCall(run, placed))
    running -= 1
    // The last call is stored with the whole step, right after this.
    if (running > 0 && known === undefined) await note(run, placed, { end, stored })
    return end
  }
  calls.forEach((placed, position) => ends.push(runOne(placed, waitsFor[position] ?? [])))
  await Promise.allSettled(ends)
  return Promise.all(ends)
}

async function startCall(run: Run, placed: PlacedCall): Promise<CallEnd> {
  if (run.claim.isStale) await run.claim.confirm()
  return dispatchCall(run, placed)
}

function isJournaled({ toolSet }: Run, call: ToolCall): boolean {
  const tool = toolSet.tools.byName.get(call.name)
  return tool !== undefined && !tool.annotations.readOnly
}

function toJournalEntry(call: ToolCall, startedAt: number): JournalEntry {
  return { toolCallId: call.id, toolName: call.name, arguments: call.arguments, startedAt }
}

async function noteAll(
  run: Run,
  calls: readonly PlacedCall[],
  { ends, stored }: { readonly ends: readonly CallEnd[]; readonly stored: StoredResults },
): Promise<void> {
  for (const [position, placed] of calls.entries()) {
    const end = ends[position]
    if (end !== undefined && !stored.has(placed)) await note(run, placed, { end, stored })
  }
}

/** Stores the result of a call that must not run twice, while others of its step still run. */
async function note(
  run: Run,
  placed: PlacedCall,
  { end, stored }: { readonly end: CallEnd; readonly stored: StoredResults },
): Promise<void> {
  if (end === 'open' || !isJournaled(run, placed.call)) return
  await run.noteCall(placed.call, end)
  stored.set(placed, end)
}
