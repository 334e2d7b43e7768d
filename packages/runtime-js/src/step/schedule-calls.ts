import type { ToolCall } from '@helix-agents/core'
import { isSubAgentTool, type ScheduledCall, scheduleToolCalls } from '@helix-agents/core/runtime'
import type { PlacedCall, Run } from '../ports.ts'

/** For each call of a step, which of the earlier ones it waits for, by position. */
export function scheduleCalls(
  run: Run,
  calls: readonly PlacedCall[],
): readonly (readonly number[])[] {
  return scheduleToolCalls(calls.map(({ call, index }) => scheduled(run, call, index)))
}

function scheduled({ toolSet }: Run, call: ToolCall, index: number): ScheduledCall {
  const tool = toolSet.tools.byName.get(call.name)
  if (tool === undefined) return { readOnly: true }
  const { readOnly } = tool.annotations
  // Sub-agents have sessions of their own: even two calls of one are independent.
  const orderKey = isSubAgentTool(tool.name) ? `${tool.name}#${index}` : tool.orderKey
  return { readOnly, orderKey: orderKey ?? tool.name }
}
