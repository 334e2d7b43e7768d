import { type JournalEntry, subAgentOf } from '@helix-agents/core/runtime'
import type { PlacedCall, Run } from '../ports.ts'
import { requestOf } from '../request/admit-call.ts'
import { scheduleCalls } from './schedule-calls.ts'

/**
 * What becomes of a call that an earlier run left. `done`: it has a result. `ready`: it may start, or
 * start again. `not-started`: it waited for a call of unknown outcome. `unknown`: it may have run.
 */
type OpenCallState = 'done' | 'ready' | 'not-started' | 'unknown'

/** What is known of a call that an earlier run left. */
export interface OpenCall {
  readonly state: OpenCallState
  /** Certainly: it waits for a person, or for a call without a result. */
  readonly isUnstarted: boolean
}

/** The calls of a step that an earlier run left, and what is known of each. */
export function examineOpenCalls(
  run: Run,
  calls: readonly PlacedCall[],
  journal: ReadonlyMap<string, JournalEntry>,
): ReadonlyMap<PlacedCall, OpenCall> {
  const known: OpenCall[] = []
  const states = new Map<PlacedCall, OpenCall>()
  for (const [position, earlier] of scheduleCalls(run, calls).entries()) {
    const placed = calls[position]
    if (placed === undefined) continue
    const blockers = earlier.flatMap((index) => known[index] ?? [])
    const found = examine(run, placed, { entry: journal.get(placed.call.id), blockers })
    known.push(found)
    states.set(placed, found)
  }
  return states
}

interface CallRecord {
  readonly entry: JournalEntry | undefined
  /** The calls that it waits for. */
  readonly blockers: readonly OpenCall[]
}

function examine(run: Run, placed: PlacedCall, record: CallRecord): OpenCall {
  const { entry } = record
  if (entry?.result !== undefined) return { state: 'done', isUnstarted: false }
  const request = requestOf(run, placed)
  if (request?.startedAt !== undefined) {
    // The call of a sub-agent continues in its session; any other one was approved for one start.
    return { state: isSubAgent(run, placed) ? 'ready' : 'unknown', isUnstarted: false }
  }
  const isAsked = request !== undefined || entry?.asks === true
  return isAsked ? { state: 'ready', isUnstarted: true } : examineUnasked(run, placed, record)
}

function examineUnasked(run: Run, placed: PlacedCall, { entry, blockers }: CallRecord): OpenCall {
  const open = blockers.filter(({ state }) => state !== 'done')
  const isUnstarted = open.length > 0
  if (entry === undefined || mayRunAgain(run, placed)) return { state: 'ready', isUnstarted }
  if (!isUnstarted) return { state: 'unknown', isUnstarted }
  return { state: open.every((one) => isWaiting(one)) ? 'ready' : 'not-started', isUnstarted }
}

/** It will have its result before what waits for it starts. */
function isWaiting({ state, isUnstarted }: OpenCall): boolean {
  return state === 'ready' && isUnstarted
}

function isSubAgent({ toolSet }: Run, { call }: PlacedCall): boolean {
  const tool = toolSet.tools.byName.get(call.name)
  return tool !== undefined && subAgentOf(tool) !== undefined
}

function mayRunAgain(run: Run, placed: PlacedCall): boolean {
  const tool = run.toolSet.tools.byName.get(placed.call.name)
  return tool !== undefined && (tool.annotations.idempotent || isSubAgent(run, placed))
}
