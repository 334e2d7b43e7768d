// An object without workerd: its host, on a storage that Node has.
import { defineAgent, MockLLMAdapter, type MockStep } from '@helix-agents/core'
import { ManualClock, RecordingLogger } from '@helix-agents/core/testing'
import { AgentHost } from '../../src/server/agent-host.ts'
import { say } from '../http/node-host.ts'
import { createNodeObject } from '../node-object.ts'

export const NOW = 1_800_000_000_000
export const plain = defineAgent({ name: 'a', llmConfig: { model: {} } })

export interface HostWorld {
  readonly steps?: readonly MockStep[]
  readonly options?: object
  /** What another instance has left. */
  readonly of?: ReturnType<typeof createNodeObject>
}

export function createHost({
  steps = [say('done')],
  options = {},
  of = createNodeObject(),
}: HostWorld = {}) {
  const [clock, logger] = [new ManualClock(NOW), new RecordingLogger()]
  const events: unknown[] = []
  const env = { name: 'env' }
  const host = new AgentHost<object>({
    ctx: of.ctx,
    env,
    options: {
      clock,
      logger,
      agents: [plain],
      llmAdapter: () => new MockLLMAdapter(steps),
      ...options,
    },
    sessionId: () => 's',
    onStarted: () => void events.push('started'),
    onErased: () => void events.push('erased'),
  })
  const run = async (agent = plain) => {
    const handle = await host.executor.execute(agent, 'Go', { sessionId: 's' })
    const result = await handle.result()
    await host.watchdog.untilAtRest()
    return result
  }
  const statusOf = async () => (await host.stateStore.loadSession('s'))?.status
  return { ...of, of, host, clock, logger, events, env, run, statusOf }
}

/** A model that answers when it is told to. */
export function gated() {
  const { promise, resolve } = Promise.withResolvers<void>()
  const answer: MockStep = async () => {
    await promise
    return say('done')
  }
  return { answer, open: resolve }
}
