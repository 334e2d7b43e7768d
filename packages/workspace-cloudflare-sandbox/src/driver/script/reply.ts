import { DriverError } from '../driver-error.ts'

/** What a script answered: a payload, then a last line that only it can have written. */
export interface ScriptReply {
  readonly payload: string
  /** First word of the last line. */
  readonly status: string
  readonly fields: readonly string[]
}

/** Bash that gives scripts `say STATUS FIELD…`, which ends them with the line that proves it. */
export function sayFunction(nonce: string): string {
  return `say() { printf '\\n%%${nonce} %s\\n' "$*"; exit 0; }`
}

/**
 * Splits an answer. A script that was cut off, or replaced by something else, has no last line.
 * @throws {DriverError} `interrupted`.
 */
export function parseReply(stdout: string, nonce: string): ScriptReply {
  const reply = findReply(stdout, nonce)
  if (reply !== undefined) return reply
  throw new DriverError('interrupted', 'the container did not finish what it was asked', {
    admitted: 'unknown',
  })
}

/** As `parseReply`; `undefined` when the proof is missing. */
export function findReply(stdout: string, nonce: string): ScriptReply | undefined {
  const proof = `\n%${nonce} `
  const start = stdout.lastIndexOf(proof)
  const end = stdout.indexOf('\n', start + proof.length)
  if (start === -1 || end === -1) return undefined
  const line = stdout.slice(start + proof.length, end)
  const [status = line, ...fields] = line.split(' ')
  return { payload: stdout.slice(0, start), status, fields }
}
