// Claims of single turns, as by workers of several machines.
import { noopLogger, systemClock } from '@helix-agents/core'
import type { TurnQueue } from '@helix-agents/worker-postgres'
import { PutBack } from '../src/turn-consumer.ts'

export interface ClaimTask {
  readonly machine: string
  readonly waitMs: number
  /** Turns at most. Default: 1. */
  readonly room?: number
  /** Those that fail or are put back come again. Default: `completed`. */
  readonly end?: 'completed' | 'failed' | 'putBack'
  /** Receives the statement. */
  readonly onText?: (text: string) => void
}

/** Claims once. @returns ids of the turns, which have ended since, in the order in which they began. */
export async function claimOnce(queue: TurnQueue, task: ClaimTask): Promise<readonly string[]> {
  const { room = 1, end = 'completed', onText, ...affinity } = task
  const claimed: string[] = []
  const failures: unknown[] = []
  const { promise: stopped, resolve } = Promise.withResolvers<void>()
  const stop = queue.consume({
    concurrency: room,
    turnsPerTenant: 100,
    pollMs: 1000,
    clock: systemClock,
    logger: {
      ...noopLogger,
      error: ({ err }: { readonly err?: unknown }) => {
        failures.push(err)
        resolve(stop())
      },
    },
    restrict: (claim) => {
      const text = queue.sessionHomes.restrict(claim, affinity)
      onText?.(text)
      return text
    },
    // From here on it claims no more.
    onClaim: () => resolve(stop()),
    run: (turnId) => {
      claimed.push(turnId)
      if (end === 'completed') return Promise.resolve({})
      return Promise.reject(end === 'failed' ? new Error('failed') : new PutBack('put back', 0))
    },
  })
  await stopped
  if (failures.length > 0) throw failures[0]
  return claimed
}
