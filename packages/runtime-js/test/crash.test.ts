// A process may die at any write: before it reached the store, or right after. Whatever the
// moment, a fresh process ends the session as if nothing had happened.
import {
  createSubAgentTool,
  defineAgent,
  defineTool,
  type Message,
  type MockStep,
  type SessionStateStore,
  type StepInput,
} from '@helix-agents/core'
import { ManualClock } from '@helix-agents/core/testing'
import { InMemoryStateStore } from '@helix-agents/store-memory'
import { InMemoryWorkspaceProvider } from '@helix-agents/workspace-memory'
import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { calls, createHarness, say, settle } from './harness.ts'

const WRITES = [
  'createSession',
  'beginRun',
  'renewRun',
  'endRun',
  'appendMessages',
  'beginStep',
  'completeToolCall',
  'commitStep',
  'saveWorkspaceRef',
] as const satisfies (keyof SessionStateStore)[]

/** A store whose process dies at its n-th write: nothing arrives any more. */
function dyingStore(inner: SessionStateStore, n: number, arrives: boolean): SessionStateStore {
  let writes = 0
  const died = new Error('the process is dead')
  return new Proxy(inner, {
    get(target, key) {
      const method = Reflect.get(target, key) as (...args: unknown[]) => Promise<unknown>
      return async (...args: unknown[]): Promise<unknown> => {
        const isWrite = (WRITES as readonly unknown[]).includes(key)
        if (isWrite) writes += 1
        if (writes > n || (writes === n && !arrives)) throw died
        const result = await method.apply(target, args)
        if (writes === n && isWrite) throw died
        return result
      }
    },
  })
}

/** A script that goes by the conversation, so that any process can play it from anywhere. */
function play(input: StepInput): ReturnType<typeof say> {
  if (input.agentType === 'child') {
    return calls(
      ['workspace__own__write_file', { path: '/c', content: 'c' }],
      ['__finish__', { answer: 'c' }],
    )
  }
  const done = input.messages.filter(({ role }) => role === 'assistant').length
  const script = [
    calls(['workspace__notes__write_file', { path: '/a', content: 'a' }], ['look'], ['charge']),
    calls(['subagent__child', { task: 't' }], ['count']),
    say('All done.'),
  ]
  return script[done]!
}

let charges = 0
const tools = [
  defineTool({
    name: 'look',
    description: '',
    inputSchema: z.object({}),
    annotations: { readOnly: true },
    execute: () => 'seen',
  }),
  defineTool({
    name: 'charge',
    description: 'Must never run twice.',
    inputSchema: z.object({}),
    execute: () => `charged ${++charges}`,
  }),
  defineTool({
    name: 'count',
    description: '',
    inputSchema: z.object({}),
    annotations: { idempotent: true },
    execute: (_, context) =>
      context.updateState<{ counted?: boolean }>((s) => void (s.counted = true)),
  }),
]
const files = { provider: { kind: 'in-memory' }, capabilities: { fs: true } } as const
const child = defineAgent({
  name: 'child',
  llmConfig: { model: {} },
  outputSchema: z.object({ answer: z.string() }),
  workspaces: { own: files },
})
const agent = defineAgent({
  name: 'parent',
  llmConfig: { model: {} },
  tools: [...tools, createSubAgentTool(child, z.object({ task: z.string() }))],
  workspaces: { notes: files },
})

const script: MockStep[] = Array.from({ length: 20 }, () => play)

/** Plays to the end over as many processes as it takes; returns how the session looks then. */
async function playWithDeath(n: number, arrives: boolean) {
  charges = 0
  const store = new InMemoryStateStore()
  const clock = new ManualClock()
  const options = {
    clock,
    workspaceProviders: new Map([['in-memory', new InMemoryWorkspaceProvider()]]),
  }
  const doomed = createHarness(script, { ...options, store: dyingStore(store, n, arrives) })
  const first = await doomed.executor
    .execute(agent, 'Go', { sessionId: 's' })
    .catch(() => undefined)
  const result = await first?.result()
  const isDone = result?.status === 'completed'
  await settle()
  // The claim of the dead process runs out.
  await clock.advance(120_000)
  const next = createHarness(script, { ...options, store })
  const check = await next.executor.canResume(agent, 's')
  if (!isDone && check.canResume) await (await next.executor.resume(agent, 's')).result()
  else if (!isDone && check.state?.status !== 'completed') {
    await (await next.executor.execute(agent, 'Go', { sessionId: 's' })).result()
  }
  return { store, session: await store.loadSession('s'), charges, isDone }
}

async function conversation(store: SessionStateStore): Promise<readonly Message[]> {
  return (await store.loadMessages('s')).messages
}

const WHOLE = {
  status: 'completed',
  output: 'All done.',
  steps: 3,
  customState: { counted: true },
  roles: 'user assistant tool tool tool assistant tool tool assistant',
  chargedTwice: false,
  charge: true,
  subAgent: true,
}

describe.each([
  ['before it arrives', false],
  ['after it arrived', true],
])('death at a write, %s', (_, arrives) => {
  test('leaves a session that ends well', async () => {
    let n = 0
    for (let isOver = false; !isOver && n < 100;) {
      n += 1
      const { store, session, charges: charged, isDone } = await playWithDeath(n, arrives)
      const messages = await conversation(store)
      const state = {
        write: n,
        status: session?.status,
        output: session?.output,
        steps: session?.stepCount,
        customState: session?.customState,
        roles: messages.map(({ role }) => role).join(' '),
        chargedTwice: charged > 1,
        charge: /charged 1|outcome-unknown/.test(JSON.stringify(messages[4])),
        subAgent: JSON.stringify(messages[6]).includes('answer'),
      }
      expect(state).toEqual({ write: n, ...WHOLE })
      isOver = isDone && (await store.listRuns('s')).length === 1
    }
    expect(n).toBeGreaterThan(15)
    expect(n).toBeLessThan(100)
  })
})
