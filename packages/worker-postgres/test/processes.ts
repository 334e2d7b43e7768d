// Processes of a test: a front that enqueues, and workers beside it.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createTestDatabase } from '@helix-agents/postgres-testbed'
import { JSAgentExecutor } from '@helix-agents/runtime-js'
import { openPostgresStores, type PostgresStores } from '@helix-agents/store-postgres'
import { openTurnQueue, type TurnQueue } from '@helix-agents/worker-postgres'
import { onTestFinished } from 'vitest'
import { type ChildTask, model } from './worker-child.ts'

export const enqueue = { mode: 'enqueue' } as const

/** Of the test that has what is opened; one that runs beside others hands its own. */
type AtEnd = typeof onTestFinished

export interface Front {
  readonly url: string
  readonly stores: PostgresStores
  readonly queue: TurnQueue
  readonly executor: JSAgentExecutor
}

/** A process that runs no turn itself. */
export async function openFront(atEnd: AtEnd = onTestFinished): Promise<Front> {
  const database = await createTestDatabase()
  atEnd(() => database.drop())
  const { url } = database
  const stores = await openPostgresStores(url)
  const queue = await openTurnQueue({ connectionString: url })
  atEnd(async () => {
    await queue.close()
    await stores.close()
  })
  const { stateStore, streamManager } = stores
  const executor = new JSAgentExecutor(stateStore, streamManager, model, { turnQueue: queue })
  return { url, stores, queue, executor }
}

/** It is killed at the end of the test. */
export function startWorker(task: ChildTask, atEnd: AtEnd = onTestFinished): ChildProcess {
  const { PATH, NODE_COMPILE_CACHE } = process.env
  const program = join(import.meta.dirname, 'worker-child.ts')
  const child = spawn(
    process.execPath,
    ['--conditions=@helix-agents/source', program, JSON.stringify(task)],
    {
      stdio: ['pipe', 'inherit', 'inherit'],
      env: { PATH, NODE_NO_WARNINGS: '1', ...(NODE_COMPILE_CACHE && { NODE_COMPILE_CACHE }) },
    },
  )
  atEnd(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, 'exit')
    child.kill('SIGKILL')
    await ended
  })
  return child
}
