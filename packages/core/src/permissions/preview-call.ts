import type { RequestPreview } from '../state/session-requests.ts'
import type { JsonValue } from '../tools/json-schema.ts'
import type { CheckedCall } from './decide-call.ts'
import type { PreviewBasis } from './module-preview.ts'
import type { PreviewedCall, PreviewLimits } from './previewed-call.ts'

/**
 * What a person sees before the call runs, without secrets and hidden characters. Changes nothing. A
 * call that cannot be previewed shows its arguments and why; it is for the person to decide.
 * @throws the reason of the signal, when the call was stopped.
 */
export async function previewCall(
  call: PreviewedCall,
  limits: PreviewLimits = {},
): Promise<RequestPreview> {
  // Loaded when a person is first asked.
  const { makePreview } = await import('./make-preview.ts')
  return makePreview(call, limits)
}

/**
 * Whether what a preview was made from is still so. A preview without a basis holds.
 * @throws what opening the workspace throws.
 */
export async function basisHolds(
  { tool, input, access }: CheckedCall,
  basis: JsonValue | undefined,
): Promise<boolean> {
  if (basis === undefined) return true
  const now = await tool.permission?.basis(input, access)
  return isSameBasis(now ?? {}, basis)
}

function isSameBasis(now: PreviewBasis, before: JsonValue): boolean {
  if (typeof before !== 'object' || before === null || Array.isArray(before)) return false
  const [left, right] = [now, before].map((basis) => Object.entries(basis))
  if (left?.length !== right?.length) return false
  return Object.entries(before).every(
    ([path, print]) => Object.hasOwn(now, path) && now[path] === print,
  )
}
