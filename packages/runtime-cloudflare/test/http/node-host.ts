// An object without workerd: a real executor on stores in memory, and what is asked of the object around it.
import {
  type Agent,
  askUserTool,
  defineAgent,
  type MockStep,
  MockLLMAdapter,
  type StepResult,
} from '@helix-agents/core'
import { ManualClock, RecordingLogger } from '@helix-agents/core/testing'
import { JSAgentExecutor } from '@helix-agents/runtime-js'
import { InMemoryStateStore, InMemoryStreamManager } from '@helix-agents/store-memory'
import { InMemoryWorkspaceProvider } from '@helix-agents/workspace-memory'
import { respond } from '../../src/http/respond.ts'
import type { Caller } from '../../src/route/caller.ts'
import { toObjectRequest } from '../../src/route/object-request.ts'
import { createPlaces } from '../../src/server/host-places.ts'

export const boxed = defineAgent({
  name: 'a',
  llmConfig: { model: {} },
  workspaces: {
    box: { provider: { kind: 'in-memory' }, capabilities: { fs: true }, history: 'step' },
  },
})

export interface World {
  readonly agent?: Agent
  readonly options?: object
}

export function objectWith(
  steps: readonly MockStep[],
  { agent = boxed, options = {} }: World = {},
) {
  const [stateStore, streamManager] = [new InMemoryStateStore(), new InMemoryStreamManager()]
  const [clock, logger, waits] = [
    new ManualClock(Date.now()),
    new RecordingLogger(),
    [] as unknown[],
  ]
  const executor = new JSAgentExecutor(stateStore, streamManager, new MockLLMAdapter(steps), {
    clock,
    logger,
    workspaceProviders: [new InMemoryWorkspaceProvider()],
  })
  const running = new Set<string>()
  const host = {
    sessionId: 's',
    env: { name: 'env' },
    ctx: { waitUntil: (work: unknown) => void waits.push(work) },
    stateStore,
    streamManager,
    executor,
    agents: new Map([[agent.name, agent]]),
    options,
    places: createPlaces(options as never),
    clock,
    logger,
    erasures: 0,
    watchdog: { isRunning: (id: string) => running.has(id) },
    assertMayChange: () => {},
    assertNotErasing: () => {},
    forgetCutOffRun: async () => {},
    pauseCutOffRun: async () => {},
  }
  const send = (method: string, path: string, body?: unknown, more: object = {}) => {
    const { caller = {}, headers = {} } = more as {
      caller?: Caller
      headers?: Record<string, string>
    }
    const request = new Request(`http://host${path}`, {
      method,
      headers: { 'content-type': 'application/json', ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const target = { sessionId: 's', agent: agent.name, base: '/agents/a/s', caller }
    return respond(host as never, toObjectRequest(request, new URL(request.url).pathname, target))
  }
  const settled = async () => (await executor.getHandle(agent, 's'))?.result()
  return { host, stateStore, streamManager, executor, clock, logger, waits, running, send, settled }
}

export const say = (content: string): StepResult => ({ type: 'text', content, shouldStop: true })
export const write = (content: string): StepResult => ({
  type: 'tool_calls',
  toolCalls: [{ id: 'c', name: 'workspace__box__write_file', arguments: { path: '/a', content } }],
})
export const links = {
  self: '/agents/a/s/state',
  messages: '/agents/a/s/messages',
  stream: '/agents/a/s/stream',
  requests: '/agents/a/s/requests',
}

export const asks = defineAgent({ name: 'a', llmConfig: { model: {} }, tools: [askUserTool()] })
export const question = (...ids: readonly string[]): StepResult => ({
  type: 'tool_calls',
  toolCalls: ids.map((id) => ({ id, name: 'ask_user', arguments: { question: `Which ${id}?` } })),
})

export async function bodyOf<T = Record<string, unknown>>(
  response: Response | Promise<Response>,
): Promise<T> {
  return (await response).json<T>()
}

export async function codeOf(response: Response | Promise<Response>): Promise<readonly unknown[]> {
  const { status } = await response
  const { error } = await bodyOf<{ error?: { code: string } }>(response)
  return [status, error?.code]
}

/** A session with two steps that wrote a file. */
export async function played() {
  const object = objectWith([write('one\n'), write('two\n'), say('done')])
  await object.send('POST', '/start', { message: 'Go' })
  await object.settled()
  const ids = (await object.stateStore.listCheckpoints('s')).items.map(({ id }) => id)
  return { ...object, ids: ids.toReversed() as [string, string, string] }
}
