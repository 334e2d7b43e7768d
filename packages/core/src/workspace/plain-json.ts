const MAX_DEPTH = 32
const PROTOTYPE_KEYS: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype'])

/**
 * What in a value is not plain JSON data, as `path: problem`, or undefined. Keys that reach a
 * prototype are rejected at every depth, since they turn a careless copy into an attack.
 */
export function findForeignData(value: unknown, path = '', depth = 0): string | undefined {
  if (depth > MAX_DEPTH) return at(path, `is nested more than ${MAX_DEPTH} levels deep`)
  if (typeof value !== 'object' || value === null) {
    return isPrimitiveJson(value) ? undefined : at(path, `is not JSON but ${typeof value}`)
  }
  return isPlain(value) ? findInside(value, path, depth) : at(path, 'is not a plain object')
}

function findInside(value: object, path: string, depth: number): string | undefined {
  for (const [key, inner] of Object.entries(value)) {
    const innerPath = path === '' ? key.slice(0, 64) : `${path}.${key.slice(0, 64)}`
    if (PROTOTYPE_KEYS.has(key)) return at(innerPath, 'is not allowed as a key')
    const problem = findForeignData(inner, innerPath, depth + 1)
    if (problem !== undefined) return problem
  }
  return undefined
}

/** An undefined property counts as absent, as it does in JSON. */
function isPrimitiveJson(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value)
  return value === undefined || value === null || ['string', 'boolean'].includes(typeof value)
}

/** Of any realm: the prototype of a plain object has none itself. */
function isPlain(value: object): boolean {
  if (Array.isArray(value)) return true
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || Object.getPrototypeOf(prototype) === null
}

function at(path: string, problem: string): string {
  return `${path === '' ? 'ref' : path}: ${problem}`
}
