import type { ModelOutput } from '../tools/tool.ts'

/** The default text of a tool result: strings as they are, anything else as JSON. */
export function renderForModel(output: unknown): ModelOutput {
  if (typeof output === 'string') return output
  return JSON.stringify(output) ?? '(no result)'
}
