// What a process of the crash tests does: it runs whichever session it gets, with the others of its kind.
import {
  AgentAlreadyRunningError,
  type Clock,
  defineAgent,
  defineTool,
  type LLMAdapter,
  SessionError,
  StateStoreError,
} from '@helix-agents/core'
import { JSAgentExecutor } from '@helix-agents/runtime-js'
import type { PostgresStores } from '@helix-agents/store-postgres'
import { AGENT, callId, type CrashPlan, textOf } from './crash-plan.ts'

export interface CrashWorker {
  readonly plan: CrashPlan
  readonly stores: Pick<PostgresStores, 'stateStore' | 'streamManager'>
  readonly clock: Clock
  /** Called before and after each call of a store, and beside each effect. It may never resolve. */
  readonly onPoint: () => void | Promise<void>
  /** The effect of a step. */
  readonly record: (id: string) => void
}

/** Works until all sessions are done. */
export async function work(worker: CrashWorker): Promise<void> {
  const { plan, stores, clock, onPoint } = worker
  const agent = createAgent(worker)
  const executor = new JSAgentExecutor(
    watched(stores.stateStore, onPoint),
    watched(stores.streamManager, onPoint),
    createAdapter(plan),
    { clock, leaseMs: plan.leaseMs },
  )
  const open = new Set(plan.sessionIds)
  while (open.size > 0) {
    for (const sessionId of open) {
      if (await isDone({ executor, agent, sessionId, plan })) open.delete(sessionId)
    }
    await clock.sleep(plan.pauseMs)
  }
}

/** `onPoint` before and after each call. */
function watched<T extends object>(target: T, onPoint: CrashWorker['onPoint']): T {
  return new Proxy(target, {
    get: (of, key) => {
      const method: unknown = Reflect.get(of, key)
      if (typeof method !== 'function') return method
      return async (...given: unknown[]): Promise<unknown> => {
        await onPoint()
        const result: unknown = await settle(method.apply(of, given), onPoint)
        return typeof result === 'object' && result !== null && 'write' in result
          ? watched(result, onPoint)
          : result
      }
    },
  })
}

async function settle(called: unknown, onPoint: CrashWorker['onPoint']): Promise<unknown> {
  try {
    return await called
  } finally {
    await onPoint()
  }
}

function createAgent({ onPoint, record }: CrashWorker) {
  const tool = defineTool({
    name: 'record',
    description: 'Must never happen twice.',
    inputSchema: { type: 'object', properties: { id: { type: 'string' } } },
    execute: async (input) => {
      const { id } = input as { readonly id: string }
      await onPoint()
      record(id)
      await onPoint()
      return `recorded ${id}`
    },
  })
  return defineAgent({ name: AGENT, llmConfig: { model: {} }, maxSteps: 1000, tools: [tool] })
}

/** Knows the conversation only. */
function createAdapter({ steps }: CrashPlan): LLMAdapter {
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

interface Turn {
  readonly executor: JSAgentExecutor
  readonly agent: ReturnType<typeof createAgent>
  readonly sessionId: string
  readonly plan: CrashPlan
}

const PASSING: ReadonlySet<string> = new Set(['unavailable', 'conflict'])

/** Runs a session as far as this process gets. Another one may hold it, or the server be away. */
async function isDone(turn: Turn): Promise<boolean> {
  try {
    return await runOnce(turn)
  } catch (error) {
    const isHeld = AgentAlreadyRunningError.isInstance(error)
    if (isHeld || (SessionError.isInstance(error) && error.code === 'not-resumable')) return false
    // `conflict`: another process went on with the session since this one looked at it.
    const mayPass = StateStoreError.isInstance(error) && PASSING.has(error.code)
    if (mayPass) return false
    throw error
  }
}

async function runOnce({ executor, agent, sessionId, plan }: Turn): Promise<boolean> {
  const { state } = await executor.canResume(agent, sessionId)
  if (state?.status === 'completed') return true
  const hasBegun = (state?.messageCount ?? 0) > 0
  if (!hasBegun && plan.begins !== true) return false
  const handle = hasBegun
    ? await executor.resume(agent, sessionId)
    : await executor.execute(agent, sessionId, { sessionId })
  return (await handle.result()).status === 'completed'
}
