import type { ModelFamily } from './model-family.ts'

const MAX_NAME = 64

/**
 * The name of a tool in a conversation. A model may call a tool that there is not, by any name, and
 * is told so; its provider then refuses the whole conversation for the letters of that name.
 */
export function sentToolName(name: string): string {
  const plain = name.replaceAll(/[^a-zA-Z0-9_-]/g, '_').slice(0, MAX_NAME)
  return plain === '' ? '_' : plain
}

/**
 * The id of a call. Those of other providers have signs that Claude refuses; its own have none, and
 * other models want theirs back as they are.
 */
export function sentCallId(id: string, { isClaude }: ModelFamily): string {
  return isClaude ? id.replaceAll(/[^a-zA-Z0-9_-]/g, '_') : id
}
