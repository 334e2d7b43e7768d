import { type JsonValue, type StoredOutcome, toJsonValue } from '@helix-agents/core'
import type { RunOutcome } from '../agent-result.ts'

/** The end of a run as it is stored. */
export function toStoredOutcome(outcome: RunOutcome): StoredOutcome {
  if (outcome.status === 'completed') {
    const output = toStoredOutput(outcome.output)
    return { status: outcome.status, ...(output === undefined ? {} : { output }) }
  }
  if (outcome.status !== 'failed') return { status: outcome.status }
  const { code, message } = outcome.error
  return { status: outcome.status, error: { code, message } }
}

/** The end of a run that an earlier process decided. */
export function fromStoredOutcome({ status, output, error }: StoredOutcome): RunOutcome {
  if (status === 'completed') return { status, output }
  if (status !== 'failed') return { status }
  return { status, error: error ?? { code: 'internal', message: 'the run failed' } }
}

/** An output as it is stored: plain JSON. */
export function toStoredOutput(output: unknown): JsonValue | undefined {
  if (output === undefined) return undefined
  const text = JSON.stringify(output)
  return toJsonValue(output) ?? (text === undefined ? undefined : toJsonValue(JSON.parse(text)))
}
