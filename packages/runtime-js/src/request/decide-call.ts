import { type PermissionVerdict, ToolFailedError } from '@helix-agents/core'
import { untilAborted } from '@helix-agents/core/provider'
import { type CheckedCall, decideCall, permissionDenied } from '@helix-agents/core/runtime'
import type { CallContext } from '../call/call-context.ts'
import type { Run } from '../ports.ts'
import { checkedCall, type GatedCall } from './gated-call.ts'

/** A call whose arguments fit its tool. */
export type ParsedCall = CheckedCall & { readonly access: CallContext }

/**
 * Parses arguments for a decision.
 * @throws {ToolInputError} `invalid-input`: a call that cannot run is not asked about.
 */
export async function parseCall(
  run: Run,
  gated: GatedCall,
  given: unknown = gated.call.arguments,
): Promise<ParsedCall> {
  const parsed = Promise.resolve(gated.tool.parse(given))
  return checkedCall(run, gated, await untilAborted(parsed, run.control.signal))
}

/**
 * Whether a person must be asked about a call.
 * @throws {PolicyError} `denied` by a rule.
 * @throws {ToolFailedError} `tool-failed` when `needsApproval` fails.
 */
export async function mustAsk(run: Run, parsed: ParsedCall): Promise<boolean> {
  const verdict = await assertNotDenied(run, parsed)
  const { needsApproval = false, answeredBy } = parsed.tool
  if (verdict.decision === 'ask' || answeredBy !== undefined) return true
  if (typeof needsApproval === 'boolean') return needsApproval
  try {
    const decided = Promise.resolve(needsApproval(parsed.input, parsed.access))
    return await untilAborted(decided, run.control.signal)
  } catch (cause) {
    const detail = 'Whether a person must approve this call could not be decided: it was not run.'
    throw new ToolFailedError('tool-failed', detail, { cause })
  }
}

/** @throws {PolicyError} `denied` */
export async function assertNotDenied(run: Run, parsed: ParsedCall): Promise<PermissionVerdict> {
  const { rules } = run.requests
  if (rules.length === 0) return { decision: 'allow' }
  const verdict = await untilAborted(decideCall(rules, parsed), run.control.signal)
  if (verdict.decision === 'deny') throw permissionDenied(verdict)
  return verdict
}
