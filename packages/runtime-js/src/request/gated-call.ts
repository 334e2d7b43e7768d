import type { Tool, ToolCall } from '@helix-agents/core'
import { type CheckedCall, factsOf, strictest, subjectOf } from '@helix-agents/core/runtime'
import { CallContext } from '../call/call-context.ts'
import type { PlacedCall, Run } from '../ports.ts'

/** A call of a known tool. */
export interface GatedCall extends PlacedCall {
  readonly tool: Tool
  /** A call in front of it waits: it may ask, and must not start. */
  readonly isBlocked: boolean
}

/** Whether calls of a tool can be asked about or denied at all. */
export function isGated(run: Run, { needsApproval = false, answeredBy }: Tool): boolean {
  return needsApproval !== false || answeredBy !== undefined || run.requests.rules.length > 0
}

/** What rules and functions of the author decide by. */
export function checkedCall(
  run: Run,
  { tool, call }: { readonly tool: Tool; readonly call: ToolCall },
  input: unknown,
): CheckedCall & { readonly access: CallContext } {
  return { tool, input, access: new CallContext(run, call, run.control.signal) }
}

/** What is known of a call before its turn. `maybe`: a function or a path decides. */
export type AskForecast = 'certainly' | 'maybe' | 'never'

/** Whether a call is going to ask, as far as its arguments alone say. Changes nothing. */
export async function forecastAsk(run: Run, tool: Tool, call: ToolCall): Promise<AskForecast> {
  const { needsApproval = false, answeredBy } = tool
  if (needsApproval === true || answeredBy !== undefined) return 'certainly'
  const { rules } = run.requests
  const facts = factsOf(tool)
  const own = typeof needsApproval === 'function' ? 'maybe' : 'never'
  if (rules.length === 0 || call.problem !== undefined) return own
  if (rules.some((each) => each.needsPaths(facts))) return 'maybe'
  try {
    const subject = await subjectOf(
      checkedCall(run, { tool, call }, await tool.parse(call.arguments)),
    )
    const { decision } = strictest(rules.map((each) => each.decide(facts, subject)))
    return decision === 'ask' ? 'certainly' : own
  } catch {
    // Its turn reports what is wrong with it.
    return own
  }
}
