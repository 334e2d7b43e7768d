import { HelixError } from '@helix-agents/core'

/** A subject did not keep a clause of its contract. */
export class ConformanceError extends Error {
  override readonly name = 'ConformanceError'
}

/** Fails with a message that says what was expected. */
export function check(condition: boolean, expected: string): asserts condition {
  if (!condition) throw new ConformanceError(`expected ${expected}`)
}

/** Compares data by its JSON; order counts. */
export function equal<T>(actual: T, expected: T): void {
  const [got, wanted] = [jsonOf(actual), jsonOf(expected)]
  if (got !== wanted) throw new ConformanceError(`expected ${brief(wanted)}, got ${brief(got)}`)
}

/** Compares bytes; text stands for its UTF-8. */
export function equalBytes(actual: Uint8Array, expected: Uint8Array | string): void {
  const wanted = typeof expected === 'string' ? new TextEncoder().encode(expected) : expected
  const at = firstDifference(actual, wanted)
  if (at === -1) return
  throw new ConformanceError(
    `expected ${wanted.length} bytes, got ${actual.length}; byte ${at}: ${wanted[at]} and ${actual[at]}`,
  )
}

/** Compares codes, never messages or classes: both may be lost on the way. */
export async function rejectsWithCode(
  code: string | readonly string[],
  run: () => Promise<unknown>,
): Promise<void> {
  const codes = typeof code === 'string' ? [code] : code
  const expected = `an error with code ${codes.join(' or ')}`
  const error = await rejectionOf(run, expected)
  const got = HelixError.isInstance(error) ? error.code : String(error)
  check(codes.includes(got), `${expected}, got ${brief(got)}`)
}

/** The reason of an abort must come through, or an `AbortError`. */
export async function rejectsAborted(reason: Error, run: () => Promise<unknown>): Promise<void> {
  const error = await rejectionOf(run, 'the reason of the abort')
  const aborted =
    error instanceof Error && (error.message === reason.message || error.name === 'AbortError')
  check(aborted, `the reason of the abort, got ${brief(String(error))}`)
}

/** What a call rejects with; fails when it does not reject, or when the kit found something in it. */
export async function rejectionOf(
  run: () => Promise<unknown>,
  expected = 'a rejection',
): Promise<unknown> {
  let value: unknown
  try {
    value = await run()
  } catch (error) {
    if (error instanceof ConformanceError) throw error
    return error
  }
  throw new ConformanceError(
    `expected ${expected}, but the call succeeded with ${brief(shown(value))}`,
  )
}

/** Which of some optional methods are there. */
export function offered(subject: object, names: readonly string[]): boolean[] {
  return names.map((name) => Reflect.get(subject, name) !== undefined)
}

/** Decodes UTF-8, keeping a byte order mark. */
export function textOf(bytes: Uint8Array): string {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes)
}

/** Bytes that are neither text nor compressible: every value, in a fixed order. */
export function patternBytes(length: number): Uint8Array {
  const bytes = new Uint8Array(length)
  for (let index = 0; index < length; index++) bytes[index] = (index * 31 + (index >> 8)) & 255
  return bytes
}

function firstDifference(a: Uint8Array, b: Uint8Array): number {
  const length = Math.max(a.length, b.length)
  for (let index = 0; index < length; index++) if (a[index] !== b[index]) return index
  return -1
}

function brief(text: string): string {
  return text.length > 400 ? `${text.slice(0, 400)}… (${text.length} characters)` : text
}

/** Plain data as JSON; what has none, such as a workspace with a stream in it, by its keys. */
function shown(value: unknown): string {
  if (typeof value !== 'object' || value === null) return String(value)
  const [name, keys] = [value.constructor?.name ?? 'Object', Object.keys(value)]
  const plain = name === 'Object' || Array.isArray(value)
  if (!plain) return name
  const isData = Object.values(value).every((it) => typeof it !== 'object' || it === null)
  return isData ? jsonOf(value) : `{ ${keys.join(', ')} }`
}

/** `undefined` has no JSON. */
function jsonOf(value: unknown): string {
  return JSON.stringify(value) ?? 'undefined'
}
