// The process that is killed.
import { appendFileSync } from 'node:fs'
import { type Clock, systemClock } from '@helix-agents/core'
import { openPostgresStores } from '@helix-agents/store-postgres'
import type { CrashTask } from './crash-plan.ts'
import { work } from './crash-worker.ts'

function createPoints({ dieAtPoint }: CrashTask): () => void {
  let passed = 0
  return () => {
    passed += 1
    if (passed === dieAtPoint) process.kill(process.pid, 'SIGKILL')
  }
}

async function run(task: CrashTask): Promise<void> {
  const clock: Clock = { ...systemClock, now: () => systemClock.now() + task.clockAheadMs }
  const stores = await openPostgresStores(task.url)
  const record = (id: string): void => appendFileSync(task.effectLog, `${id}\n`)
  await work({ plan: task, stores, clock, onPoint: createPoints(task), record })
  await stores.close()
}

run(JSON.parse(process.argv[2] ?? '{}') as CrashTask).then(
  () => process.exit(0),
  (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`)
    process.exit(1)
  },
)
