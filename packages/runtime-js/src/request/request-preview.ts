import type { RequestPreview } from '@helix-agents/core/runtime'
import type { GatedCall } from './gated-call.ts'

/** Characters of a preview. */
const MAX_BODY = 20_000

/** What a person sees of a call whose tool has no preview of its own: its arguments. */
export function previewOfArguments({ tool, call }: GatedCall): RequestPreview {
  const body = JSON.stringify(call.arguments ?? {}, undefined, 2)
  const truncated = body.length > MAX_BODY
  return {
    title: tool.name,
    body: truncated ? body.slice(0, MAX_BODY) : body,
    format: 'json',
    ...(truncated && { truncated }),
  }
}
