import { contentLimits } from '../llm/content-limits.ts'
import type { JsonValue } from '../tools/json-schema.ts'

/** The value itself when it is plain JSON (absent object fields allowed), else `undefined`. */
export function toJsonValue(value: unknown): JsonValue | undefined {
  return isJsonValue(value, 0) ? value : undefined
}

function isJsonValue(value: unknown, depth: number): value is JsonValue {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return true
  if (typeof value === 'number') return Number.isFinite(value)
  if (typeof value !== 'object' || depth >= contentLimits.maxDepth) return false
  if (Array.isArray(value)) return value.every((item) => isJsonValue(item, depth + 1))
  const isJson = (item: unknown): boolean => item === undefined || isJsonValue(item, depth + 1)
  return isPlain(value) && Object.values(value).every(isJson)
}

/** Of any realm: the prototype of a plain object has none itself. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || Object.getPrototypeOf(prototype) === null
}
