import type { ToolCall } from '@helix-agents/core'
import {
  isSubAgentTool,
  type JournalEntry,
  type ScheduledCall,
  scheduleToolCalls,
} from '@helix-agents/core/runtime'
import type { PlacedCall } from '../ports.ts'
import type { Run } from '../ports.ts'

/** For each call of a step, which of the earlier ones it waits for, by position. */
export function scheduleCalls(
  run: Run,
  calls: readonly PlacedCall[],
): readonly (readonly number[])[] {
  return scheduleToolCalls(calls.map(({ call, index }) => scheduled(run, call, index)))
}

/**
 * The calls that certainly did not start before the process died: each waits for an earlier one
 * whose result would have been stored first.
 */
export function findNotStarted(
  run: Run,
  calls: readonly PlacedCall[],
  journal: ReadonlyMap<string, JournalEntry>,
): ReadonlySet<PlacedCall> {
  const notStarted = new Set<PlacedCall>()
  const hasNotEnded = (placed: PlacedCall | undefined): boolean => {
    if (placed === undefined) return false
    const entry = journal.get(placed.call.id)
    return (entry !== undefined && entry.result === undefined) || notStarted.has(placed)
  }
  for (const [position, earlier] of scheduleCalls(run, calls).entries()) {
    const placed = calls[position]
    if (placed === undefined) continue
    if (earlier.some((index) => hasNotEnded(calls[index]))) notStarted.add(placed)
  }
  return notStarted
}

function scheduled({ toolSet }: Run, call: ToolCall, index: number): ScheduledCall {
  const tool = toolSet.tools.byName.get(call.name)
  if (tool === undefined) return { readOnly: true }
  const { readOnly } = tool.annotations
  // Sub-agents have sessions of their own: even two calls of one are independent.
  const orderKey = isSubAgentTool(tool.name) ? `${tool.name}#${index}` : tool.orderKey
  return { readOnly, orderKey: orderKey ?? tool.name }
}
