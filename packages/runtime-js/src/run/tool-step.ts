import {
  type AssistantMessage,
  isSubAgentTool,
  type JournalEntry,
  type ScheduledCall,
  scheduleToolCalls,
  type ToolCall,
} from '@helix-agents/core'
import type { RunOutcome } from '../agent-result.ts'
import { type CallEnd, type CallResult, dispatchCall } from './dispatch-call.ts'
import type { PlacedCall } from './find-open-calls.ts'
import type { Run } from './run.ts'

/** Stores the answer of the model, runs its tool calls and stores their results. */
export async function runToolStep(
  run: Run,
  step: { readonly message: AssistantMessage; readonly toolCalls: readonly ToolCall[] },
): Promise<RunOutcome | undefined> {
  const write = run.write()
  const changing = step.toolCalls.filter((call) => isJournaled(run, call))
  const journal = changing.map((call) => toJournalEntry(call, write.now))
  await run.services.stateStore.beginStep({ ...write, messages: [step.message], journal })
  run.messages.push(step.message)
  const calls = step.toolCalls.map((call, index) => ({ call, index, isRecovered: false }))
  return endToolStep(run, calls, await runCalls(run, calls))
}

/** Runs calls that an earlier run left open, except those whose result is known. */
export async function runOpenCalls(
  run: Run,
  calls: readonly PlacedCall[],
  known: ReadonlyMap<PlacedCall, CallResult>,
): Promise<RunOutcome | undefined> {
  return endToolStep(run, calls, await runCalls(run, calls, known))
}

async function endToolStep(
  run: Run,
  calls: readonly PlacedCall[],
  ends: readonly CallEnd[],
): Promise<RunOutcome | undefined> {
  const results = ends.filter((end) => end !== 'open')
  if (results.length < ends.length) {
    await noteAll(run, calls, ends)
    return { status: 'interrupted' }
  }
  await run.commit(results.map((result) => result.message))
  const finish = results.find((result) => result.finish !== undefined)?.finish
  return finish === undefined ? undefined : { status: 'completed', output: finish.output }
}

/** All calls of a step, in parallel where that changes nothing; results in the order of calls. */
async function runCalls(
  run: Run,
  calls: readonly PlacedCall[],
  known: ReadonlyMap<PlacedCall, CallResult> = new Map(),
): Promise<CallEnd[]> {
  const [only] = calls
  if (calls.length === 1 && only !== undefined) {
    return [known.get(only) ?? (await dispatchCall(run, only))]
  }
  const waitsFor = scheduleToolCalls(calls.map(({ call, index }) => scheduled(run, call, index)))
  const ends: Promise<CallEnd>[] = []
  let running = calls.length
  const runOne = async (placed: PlacedCall, earlier: readonly number[]): Promise<CallEnd> => {
    for (const index of earlier) await ends[index]
    const end = known.get(placed) ?? (await dispatchCall(run, placed))
    running -= 1
    // The last call is stored with the whole step, right after this.
    if (running > 0 && !known.has(placed)) await note(run, placed.call, end)
    return end
  }
  calls.forEach((placed, position) => ends.push(runOne(placed, waitsFor[position] ?? [])))
  await Promise.allSettled(ends)
  return Promise.all(ends)
}

function scheduled({ toolSet }: Run, call: ToolCall, index: number): ScheduledCall {
  const tool = toolSet.tools.byName.get(call.name)
  if (tool === undefined) return { readOnly: true }
  const { readOnly } = tool.annotations
  // Sub-agents have sessions of their own: even two calls of one are independent.
  const orderKey = isSubAgentTool(tool.name) ? `${tool.name}#${index}` : tool.orderKey
  return { readOnly, orderKey: orderKey ?? tool.name }
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
  ends: readonly CallEnd[],
): Promise<void> {
  for (const [position, { call }] of calls.entries())
    await note(run, call, ends[position] ?? 'open')
}

/** Stores the result of a call that must not run twice, while others of its step still run. */
async function note(run: Run, call: ToolCall, end: CallEnd): Promise<void> {
  if (end === 'open' || end.changedState === true || !isJournaled(run, call)) return
  const write = run.write()
  await run.services.stateStore.completeToolCall({
    ...write,
    toolCallId: call.id,
    result: { message: end.message, endedAt: write.now },
  })
}
