import type { AssistantMessage, Tool, ToolCall } from '@helix-agents/core'
import { createTimeSlice } from '@helix-agents/core/provider'
import type { JournalEntry } from '@helix-agents/core/runtime'
import type { RunOutcome } from '../agent-result.ts'
import { dispatchCall } from '../call/dispatch-call.ts'
import type { CallEnd, CallResult, PlacedCall, Run } from '../ports.ts'
import { forecastAsk, isGated } from '../request/gated-call.ts'
import { scheduleCalls } from './schedule-calls.ts'
import { stopped } from './stop-outcome.ts'

/** Calls of a step that start before timers, signals and I/O get a turn. */
const CALLS_PER_TURN = 16

/** Calls whose result is stored, or needs no storing before the end of the step. */
export type StoredResults = Map<PlacedCall, CallResult>

/** Stores the answer of the model, runs its tool calls and stores their results. */
export async function runToolStep(
  run: Run,
  step: { readonly message: AssistantMessage; readonly toolCalls: readonly ToolCall[] },
): Promise<RunOutcome | undefined> {
  await run.chunks.flush()
  // Models use the id of a call again: a request is about a call of its own step.
  run.requests.byCall.clear()
  const placed: PlacedCall[] = []
  for (const [index, call] of step.toolCalls.entries()) {
    const one = place(run, call, index)
    // Most calls need no look ahead, and many may come at once.
    placed.push(one instanceof Promise ? await one : one)
  }
  const write = run.lease.write()
  const journal = placed
    .filter(({ isJournaled }) => isJournaled)
    .map((one) => toJournalEntry(one, write.now))
  const messages = [step.message]
  const usage = run.recorder.unstoredUsage()
  await run.services.stateStore.beginStep({ ...write, ...usage, messages, journal })
  run.messages.push(step.message)
  return runCalls(run, placed, new Map())
}

/** What changes something, and what a person is asked about, does not run twice. */
function place(run: Run, call: ToolCall, index: number): PlacedCall | Promise<PlacedCall> {
  const tool = run.toolSet.tools.byName.get(call.name)
  const isJournaled = tool?.annotations.readOnly === false
  const placed = { call, index, isRecovered: false, isJournaled, asks: false }
  return tool === undefined || !isGated(run, tool) ? placed : placeGated(run, tool, placed)
}

async function placeGated(run: Run, tool: Tool, placed: PlacedCall): Promise<PlacedCall> {
  const forecast = await forecastAsk(run, tool, placed.call)
  return {
    ...placed,
    isJournaled: placed.isJournaled || forecast !== 'never',
    asks: forecast === 'certainly',
  }
}

/** Runs all calls of a step but those whose result is stored, and stores the step. */
export async function runCalls(
  run: Run,
  calls: readonly PlacedCall[],
  stored: StoredResults,
): Promise<RunOutcome | undefined> {
  const ends = await endsOf(run, calls, stored)
  const results = ends.filter((end) => typeof end !== 'string')
  if (results.length < ends.length) {
    await recordAll(run, calls, { ends, stored })
    if (run.control.cause !== undefined) return stopped(run, 'aborted')
    return { status: ends.includes('interrupted') ? 'interrupted' : 'waiting' }
  }
  const finish = results.find((result) => result.finish !== undefined)?.finish
  const outcome = finish && ({ status: 'completed', output: finish.output } as const)
  await run.recorder.commit(
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
    return [stored.get(only) ?? (await dispatchCall(run, { ...only, isBlocked: false }))]
  }
  const waitsFor = scheduleCalls(run, calls)
  const slice = createTimeSlice()
  const ends: Promise<CallEnd>[] = []
  const settled: Promise<unknown>[] = []
  let running = calls.length
  let released: Promise<void> = Promise.resolve()
  /** Many calls may wait for the same one: they go on one after the other. */
  const takeTurn = (): Promise<void> => {
    released = released.then(() => (slice.due ? slice.pause() : undefined))
    return released
  }
  const runOne = async (placed: PlacedCall, earlier: readonly number[]): Promise<CallEnd> => {
    let isBlocked = false
    for (const index of earlier) isBlocked = typeof (await ends[index]) === 'string' || isBlocked
    if (earlier.length > 0) await takeTurn()
    const known = stored.get(placed)
    const end = known ?? (await dispatchCall(run, { ...placed, isBlocked }))
    running -= 1
    // The last call is stored with the whole step, right after this.
    if (running > 0 && known === undefined) await record(run, placed, { end, stored })
    return end
  }
  for (const [position, placed] of calls.entries()) {
    if (position > 0 && position % CALLS_PER_TURN === 0) await slice.pause()
    const end = runOne(placed, waitsFor[position] ?? [])
    ends.push(end)
    settled.push(Promise.allSettled([end]))
  }
  await Promise.all(settled)
  return Promise.all(ends)
}

function toJournalEntry({ call, asks }: PlacedCall, startedAt: number): JournalEntry {
  const { id: toolCallId, name: toolName, arguments: given } = call
  return { toolCallId, toolName, arguments: given, startedAt, ...(asks && { asks }) }
}

async function recordAll(
  run: Run,
  calls: readonly PlacedCall[],
  { ends, stored }: { readonly ends: readonly CallEnd[]; readonly stored: StoredResults },
): Promise<void> {
  for (const [position, placed] of calls.entries()) {
    const end = ends[position]
    if (end !== undefined && !stored.has(placed)) await record(run, placed, { end, stored })
  }
}

/** Stores the result of a call that must not run twice, while others of its step still run. */
async function record(
  run: Run,
  placed: PlacedCall,
  { end, stored }: { readonly end: CallEnd; readonly stored: StoredResults },
): Promise<void> {
  if (typeof end === 'string' || !placed.isJournaled) return
  await run.recorder.recordCall(placed.call, end)
  stored.set(placed, end)
}
