import type { ModelOutput } from '../tools/model-output.ts'

/**
 * The default text of a tool result: strings as they are, anything else as JSON. Never throws:
 * the call has succeeded, and an error would let the model repeat it.
 */
export function renderForModel(output: unknown): ModelOutput {
  if (typeof output === 'string') return output
  try {
    return JSON.stringify(output, bigIntAsText) ?? '(no result)'
  } catch {
    return '(the call succeeded; its result cannot be shown)'
  }
}

function bigIntAsText(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value
}
