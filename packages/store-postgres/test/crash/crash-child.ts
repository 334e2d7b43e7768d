// The process that is killed: it runs whichever session it gets, with the others of its kind.
import { appendFileSync } from 'node:fs'
import {
  AgentAlreadyRunningError,
  type Clock,
  defineAgent,
  defineTool,
  type LLMAdapter,
  SessionError,
  systemClock,
} from '@helix-agents/core'
import { JSAgentExecutor } from '@helix-agents/runtime-js'
import { openPostgresStores } from '@helix-agents/store-postgres'
import { AGENT, callId, type CrashTask, textOf } from './crash-plan.ts'

const HELD_PAUSE_MS = 20

function createPoints({ dieAtPoint }: CrashTask): () => void {
  let passed = 0
  return () => {
    passed += 1
    if (passed === dieAtPoint) process.kill(process.pid, 'SIGKILL')
  }
}

/** `onPoint` before and after each call. */
function watched<T extends object>(target: T, onPoint: () => void): T {
  return new Proxy(target, {
    get: (of, key) => {
      const method: unknown = Reflect.get(of, key)
      if (typeof method !== 'function') return method
      return async (...given: unknown[]): Promise<unknown> => {
        onPoint()
        const result: unknown = await method.apply(of, given)
        onPoint()
        return typeof result === 'object' && result !== null && 'write' in result
          ? watched(result, onPoint)
          : result
      }
    },
  })
}

function createAgent({ effectLog }: CrashTask, onPoint: () => void) {
  const record = defineTool({
    name: 'record',
    description: 'Must never happen twice.',
    inputSchema: { type: 'object', properties: { id: { type: 'string' } } },
    execute: (input) => {
      const { id } = input as { readonly id: string }
      onPoint()
      appendFileSync(effectLog, `${id}\n`)
      onPoint()
      return `recorded ${id}`
    },
  })
  return defineAgent({ name: AGENT, llmConfig: { model: {} }, maxSteps: 1000, tools: [record] })
}

/** Knows the conversation only. */
function createAdapter({ steps }: CrashTask): LLMAdapter {
  return {
    generateStep: async ({ messages, callbacks }) => {
      const [first] = messages
      if (first?.role !== 'user') throw new Error('a conversation starts with the user')
      const step = messages.filter(({ role }) => role === 'assistant').length + 1
      const content = textOf(first.content, step)
      callbacks.onTextDelta?.(content)
      if (step >= steps) return { type: 'text', content, shouldStop: true }
      const id = callId(first.content, step)
      return { type: 'tool_calls', content, toolCalls: [{ id, name: 'record', arguments: { id } }] }
    },
  }
}

async function work(task: CrashTask): Promise<void> {
  const clock: Clock = { ...systemClock, now: () => systemClock.now() + task.clockAheadMs }
  const onPoint = createPoints(task)
  const { stateStore, streamManager, close } = await openPostgresStores(task.url)
  const agent = createAgent(task, onPoint)
  const executor = new JSAgentExecutor(
    watched(stateStore, onPoint),
    watched(streamManager, onPoint),
    createAdapter(task),
    { clock, leaseMs: task.leaseMs },
  )
  const open = new Set(task.sessionIds)
  while (open.size > 0) {
    for (const sessionId of open) {
      if (await isDone({ executor, agent, sessionId, task })) open.delete(sessionId)
    }
    await systemClock.sleep(HELD_PAUSE_MS)
  }
  await close()
}

interface Turn {
  readonly executor: JSAgentExecutor
  readonly agent: ReturnType<typeof createAgent>
  readonly sessionId: string
  readonly task: CrashTask
}

/** Runs a session as far as this process gets. Another one may hold it. */
async function isDone(turn: Turn): Promise<boolean> {
  try {
    return await runOnce(turn)
  } catch (error) {
    const isHeld = AgentAlreadyRunningError.isInstance(error)
    if (isHeld || (SessionError.isInstance(error) && error.code === 'not-resumable')) return false
    throw error
  }
}

async function runOnce({ executor, agent, sessionId, task }: Turn): Promise<boolean> {
  const { state } = await executor.canResume(agent, sessionId)
  if (state?.status === 'completed') return true
  const hasBegun = (state?.messageCount ?? 0) > 0
  if (!hasBegun && task.begins !== true) return false
  const handle = hasBegun
    ? await executor.resume(agent, sessionId)
    : await executor.execute(agent, sessionId, { sessionId })
  return (await handle.result()).status === 'completed'
}

work(JSON.parse(process.argv[2] ?? '{}') as CrashTask).then(
  () => process.exit(0),
  (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`)
    process.exit(1)
  },
)
