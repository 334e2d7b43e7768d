import type { JsonValue } from '@helix-agents/core'
import {
  type RunEnd,
  type StoredError,
  type StoredOutcome,
  toJsonValue,
} from '@helix-agents/core/runtime'
import type { RunOutcome } from '../agent-result.ts'
import type { Run } from '../ports.ts'

/** The end of a run as it is stored. */
export function toStoredOutcome(outcome: RunOutcome): StoredOutcome {
  if (outcome.status === 'completed') {
    const output = toStoredOutput(outcome.output)
    return { status: outcome.status, ...(output !== undefined && { output }) }
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

const SHUT_DOWN: StoredError = { code: 'shutdown', message: 'the process was shut down' }

/** How a run ends, and what it could not close. */
export function toRunEnd(
  { control }: Run,
  outcome: RunOutcome,
  owed: readonly string[],
): StoredOutcome & Pick<RunEnd, 'owed'> {
  const isShutDown = outcome.status === 'interrupted' && control.isShutDown
  return {
    ...toStoredOutcome(outcome),
    ...(isShutDown ? { error: SHUT_DOWN } : {}),
    ...toOwed(owed),
  }
}

/** The workspaces that could not be closed, as the end of a run stores them. */
export function toOwed(owed: readonly string[]): Pick<RunEnd, 'owed'> {
  return owed.length === 0 ? {} : { owed }
}

/** An output as it is stored: plain JSON. */
export function toStoredOutput(output: unknown): JsonValue | undefined {
  if (output === undefined) return undefined
  const text = JSON.stringify(output)
  return toJsonValue(output) ?? (text === undefined ? undefined : toJsonValue(JSON.parse(text)))
}
