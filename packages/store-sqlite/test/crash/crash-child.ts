// The process that is killed. Waits for one line with its task, goes on with the session from
// wherever it stands, and says on its standard output how far it is.
import { writeSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { AgentAlreadyRunningError, type Clock, SessionError, systemClock } from '@helix-agents/core'
import { type AgentHandle, JSAgentExecutor } from '@helix-agents/runtime-js'
import { openSqliteStores } from '@helix-agents/store-sqlite'
import { LocalBashWorkspaceProvider } from '@helix-agents/workspace-local-bash'
import type { ChildReport, ChildTask } from './child-task.ts'
import { createCrashAgent, PlanAdapter } from './crash-agent.ts'
import { watchStore, watchStreams } from './watched-stores.ts'

const REFUSED_PAUSE_MS = 20
/** Whoever would kill it may be gone itself. */
const MAX_HOLD_MS = 120_000

function say(report: ChildReport): void {
  writeSync(1, `${JSON.stringify(report)}\n`)
}

/** Tells the parent of a point; a child that is to die at one does so by itself. */
function createPoints({ dieAtPoint, holdAtPoint }: ChildTask): () => void {
  let passed = 0
  return () => {
    passed += 1
    if (passed === dieAtPoint) process.kill(process.pid, 'SIGKILL')
    writeSync(1, '.\n')
    if (passed === holdAtPoint)
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, MAX_HOLD_MS)
  }
}

async function work(task: ChildTask): Promise<void> {
  const clock: Clock = { ...systemClock, now: () => systemClock.now() + task.clockAheadMs }
  const onPoint = createPoints(task)
  const stores = await openSqliteStores(task.database, { clock })
  const onEffect = (): void => {
    if (task.diesInCall === true) process.kill(process.pid, 'SIGKILL')
  }
  const agentOptions = { steps: task.steps, effectLog: task.effectLog, onPoint, onEffect }
  const agent = createCrashAgent(agentOptions)
  const executor = new JSAgentExecutor(
    watchStore(stores.stateStore, onPoint, task.sabotage),
    watchStreams(stores.streamManager, onPoint, task.sabotage),
    new PlanAdapter(agentOptions),
    {
      clock,
      workspaceProviders: [new LocalBashWorkspaceProvider({ tmpdirRoot: task.tmpdirRoot })],
      ...(task.leaseMs !== undefined && { leaseMs: task.leaseMs }),
    },
  )
  // As a server does: whatever is under way, the process ends once the executor is down.
  process.once('SIGTERM', () => {
    void executor.shutdown().then(() => process.exit(0))
  })
  say({ type: 'working' })
  const handle = await start(executor, agent, task)
  const result = handle === 'completed' ? undefined : await handle.result()
  await stores.close()
  say({ type: 'ended', status: result?.status ?? 'completed', error: result?.error?.code })
}

type CrashAgent = ReturnType<typeof createCrashAgent>

/** Like a server that finds a session: it goes on with what there is. */
async function start(
  executor: JSAgentExecutor,
  agent: CrashAgent,
  task: ChildTask,
): Promise<AgentHandle | 'completed'> {
  for (;;) {
    try {
      return await startOnce(executor, agent, task)
    } catch (error) {
      // It has ended since it was looked at: the next look says so.
      if (SessionError.isInstance(error) && error.code === 'not-resumable') continue
      if (!AgentAlreadyRunningError.isInstance(error)) throw error
      say({ type: 'refused', code: error.code })
      if (task.insists !== true) process.exit(0)
      await systemClock.sleep(REFUSED_PAUSE_MS)
    }
  }
}

async function startOnce(
  executor: JSAgentExecutor,
  agent: CrashAgent,
  { sessionId }: ChildTask,
): Promise<AgentHandle | 'completed'> {
  const keepWorkspaces = true
  const { canResume, state } = await executor.canResume(agent, sessionId)
  // One that is held is refused, unless its lease runs out just now: a new turn would be wrong then.
  const isUnderWay = state?.status === 'running' && state.messageCount > 0
  if (canResume || isUnderWay) return executor.resume(agent, sessionId, { keepWorkspaces })
  if (state?.status === 'completed') return 'completed'
  return executor.execute(agent, sessionId, { sessionId, keepWorkspaces })
}

const lines = createInterface({ input: process.stdin })
lines.once('line', (line) => {
  work(JSON.parse(line) as ChildTask).then(
    () => process.exit(0),
    (error: unknown) => {
      process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`)
      process.exit(1)
    },
  )
})
// The parent is gone: nobody would kill this process any more.
lines.once('close', () => process.exit(2))
say({ type: 'ready' })
