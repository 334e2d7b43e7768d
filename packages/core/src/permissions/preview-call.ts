import type { RequestPreview } from '../state/session-requests.ts'
import type { JsonValue } from '../tools/json-schema.ts'
import { cutEnd } from '../tools/result-budget.ts'
import type { CheckedCall } from './decide-call.ts'
import type { ModulePreview } from './module-preview.ts'
import { visibleLine, visibleText } from './visible-text.ts'

/** Bounds of a preview. */
export interface PreviewLimits {
  /** Default: 20,000. */
  readonly bodyCharacters?: number
  /** Default: 200. */
  readonly titleCharacters?: number
}

/** A call that a person is asked about. */
export interface PreviewedCall extends CheckedCall {
  /** The exact JSON text of its arguments. */
  readonly args: string
}

const DEFAULT_BODY_CHARACTERS = 20_000
const DEFAULT_TITLE_CHARACTERS = 200

/**
 * What a person sees before the call runs. Changes nothing. A call that cannot be previewed shows its
 * arguments, and what is wrong with it as things are.
 * @throws the reason of the signal, when the call was stopped.
 */
export async function previewCall(
  call: PreviewedCall,
  limits: PreviewLimits = {},
): Promise<RequestPreview> {
  const { bodyCharacters = DEFAULT_BODY_CHARACTERS, titleCharacters = DEFAULT_TITLE_CHARACTERS } =
    limits
  const made = await makePreview(call)
  const title = visibleLine(cutEnd(made.title, titleCharacters))
  if (made.body === undefined) return { title }
  const body = visibleText(cutEnd(made.body, bodyCharacters))
  const truncated = made.truncated === true || made.body.length > bodyCharacters
  return { title, body, format: made.format ?? 'text', ...(truncated && { truncated }) }
}

/** Whether what a preview was made from is still so. */
export async function basisHolds(
  _call: CheckedCall,
  basis: JsonValue | undefined,
): Promise<boolean> {
  return basis === undefined
}

async function makePreview(call: PreviewedCall): Promise<ModulePreview> {
  const { tool, input, access } = call
  access.abortSignal.throwIfAborted()
  return (await tool.permission?.preview(input, access)) ?? argumentsPreview(call)
}

function argumentsPreview({ tool, args }: PreviewedCall): ModulePreview {
  return { title: tool.permission?.facts.shortName ?? tool.name, body: args, format: 'json' }
}
