import { type Agent, MockLLMAdapter, type MockStep, type ToolContext } from '@helix-agents/core'
import type { SessionStateStore, StoredOutcome } from '@helix-agents/core/runtime'
import { check, equal, rejectsWithCode } from '../assert.ts'
import type { Behaviour } from '../behaviour.ts'
import {
  call,
  chunksOf,
  endOf,
  messagesOf,
  never,
  newAgent,
  newGate,
  newTool,
  play,
  resultsIn,
  runToEnd,
  say,
  SESSION,
  start,
  textOf,
  untilStored,
  within,
} from './agent-script.ts'
import type { ExecutorScenario, ExecutorSubject, RunEnding } from './executor-subject.ts'

const count = newTool({
  name: 'count',
  execute: async (context) => {
    addOne(context)
    return 'counted'
  },
})

export const recoveryBehaviours: readonly Behaviour<ExecutorSubject>[] = [
  {
    id: 'executor/crash/decided-run-ends-as-it-was-decided',
    run: async (subject) => {
      const error = { code: 'output-missing', message: 'no output' }
      const outcomes: readonly StoredOutcome[] = [
        { status: 'completed', output: { poem: 'x' } },
        { status: 'failed', error },
      ]
      for (const outcome of outcomes) {
        const scenario = await play(subject, [])
        await decide(scenario.store, outcome)
        const ending = await resumed(scenario, newAgent())
        equal([ending.status, ending.output], [outcome.status, outcome.output])
        equal(ending.error?.code, outcome.error?.code)
        const head = await scenario.store.loadSession(SESSION)
        equal([head?.status, head?.outcome, head?.messageCount], [outcome.status, undefined, 2])
      }
    },
  },
  {
    id: 'executor/crash/decided-run-goes-on-with-a-message',
    run: async (subject) => {
      const scenario = await play(subject, [say('more')])
      await decide(scenario.store, { status: 'completed', output: 'before' })
      const next = await scenario.restart()
      const ending = await runToEnd(next, newAgent(), 'and now?')
      equal([ending.status, ending.output], ['completed', 'more'])
      const texts = (await messagesOf(scenario)).map(textOf)
      equal(texts, ['go', 'done', 'and now?', 'more'])
    },
  },
  {
    id: 'executor/crash/call-that-waited-was-not-started',
    run: async (subject) => {
      const { agent, scenario } = await cutOff(subject, ['hang', 'hang', 'count'])
      equal((await resumed(scenario, agent)).status, 'completed')
      const [first, second, third] = resultsIn(await messagesOf(scenario))
      check(textOf(first).includes('[outcome-unknown]'), 'the started call to be unknown')
      check(textOf(second).includes('[not-started]'), 'the call behind it not to be started')
      equal(third?.content, 'counted')
    },
  },
  {
    id: 'executor/crash/state-is-what-the-kept-calls-did',
    run: async (subject) => {
      const { agent, scenario } = await cutOff(subject, ['count', 'hang'])
      equal((await scenario.store.loadSession(SESSION))?.customState, { n: 1 })
      equal((await resumed(scenario, agent)).status, 'completed')
      const head = await scenario.store.loadSession(SESSION)
      equal([head?.customState, head?.status], [{ n: 1 }, 'completed'])
      const [counted, hung] = resultsIn(await messagesOf(scenario))
      equal([counted?.content, hung?.isError], ['counted', true])
    },
  },
  {
    id: 'executor/crash/finishing-call-still-ends-the-run',
    run: async (subject) => {
      const { agent, scenario } = await cutOff(subject, ['finish', 'hang'], [say('not asked')])
      const ending = await resumed(scenario, agent)
      equal([ending.status, ending.output], ['completed', { by: 'finish' }])
    },
  },
  {
    id: 'executor/crash/stream-has-no-gap',
    run: async (subject) => {
      const { agent, scenario } = await cutOff(subject, ['count', 'hang'])
      const next = await scenario.restart()
      const handle = await within(next.resume(agent, SESSION))
      await endOf(handle)
      const chunks = await chunksOf(handle)
      const first = chunks[0]?.sequence ?? Number.NaN
      equal(
        chunks.map((chunk) => chunk.sequence - first),
        chunks.map((_, index) => index),
      )
      const types = chunks.map((chunk) => chunk.type)
      equal([types[0], types.at(-1)], ['tool_start', 'output'])
    },
  },
  {
    id: 'executor/restore/goes-on-from-the-checkpoint',
    run: async (subject) => {
      const scenario = await play(subject, [call([['count']]), say('first'), say('second')])
      const agent = newAgent({ tools: [count] })
      await runToEnd(scenario.executor, agent)
      const checkpointId = await firstCheckpoint(scenario)
      await within(scenario.executor.restoreCheckpoint(agent, SESSION, checkpointId))
      const head = await scenario.store.loadSession(SESSION)
      equal([head?.status, head?.stepCount, head?.output], ['interrupted', 1, undefined])
      const ending = await endOf(await within(scenario.executor.resume(agent, SESSION)))
      equal([ending.status, ending.output], ['completed', 'second'])
      equal((await messagesOf(scenario)).map(textOf), ['go', '', 'counted', 'second'])
    },
  },
  {
    id: 'executor/restore/is-announced-to-readers',
    run: async (subject) => {
      const scenario = await play(subject, [call([['count']]), say('first')])
      const agent = newAgent({ tools: [count] })
      const handle = await start(scenario.executor, agent)
      await endOf(handle)
      const last = (await chunksOf(handle)).at(-1)?.sequence ?? Number.NaN
      const checkpointId = await firstCheckpoint(scenario)
      await within(scenario.executor.restoreCheckpoint(agent, SESSION, checkpointId))
      const emitted = await chunksOf(handle, { fromSequence: last + 1 })
      equal(
        emitted.map((chunk) => chunk.type),
        ['stream_resync'],
      )
    },
  },
  {
    id: 'executor/restore/is-rejected-while-a-run-holds-the-session',
    run: async (subject) => {
      const hung = newGate()
      const hang = newTool({ name: 'hang', execute: () => (hung.open(), never()) })
      const agent = newAgent({ tools: [count, hang] })
      const scenario = await play(subject, [call([['count']]), call([['hang']], 'h-')])
      await start(scenario.executor, agent)
      await within(hung.passed)
      const checkpointId = await firstCheckpoint(scenario)
      for (const executor of [scenario.executor, await scenario.another()]) {
        await rejectsWithCode('already-running', () =>
          executor.restoreCheckpoint(agent, SESSION, checkpointId),
        )
      }
      equal((await messagesOf(scenario)).length, 4)
    },
  },
  {
    id: 'executor/restore/is-for-the-agent-of-the-session',
    run: async (subject) => {
      const scenario = await play(subject, [call([['count']]), say('first')])
      await runToEnd(scenario.executor, newAgent({ tools: [count] }))
      const checkpointId = await firstCheckpoint(scenario)
      const other = newAgent({ name: 'other' })
      await rejectsWithCode('other-agent', () =>
        scenario.executor.restoreCheckpoint(other, SESSION, checkpointId),
      )
      equal((await scenario.store.loadSession(SESSION))?.stepCount, 2)
    },
  },
]

function addOne(context: ToolContext): void {
  context.updateState<{ n?: number }>((draft) => {
    draft.n = (draft.n ?? 0) + 1
  })
}

/** A run that decided how it ends with its only step, and whose process died then. */
async function decide(store: SessionStateStore, outcome: StoredOutcome): Promise<void> {
  const write = { sessionId: SESSION, runId: 'dead', now: 1 }
  await store.createSession({ ...write, agentType: 'agent', customState: undefined })
  await store.beginRun({ ...write, leaseMs: 1 })
  await store.appendMessages({ ...write, messages: [{ role: 'user', content: 'go' }] })
  const messages = [{ role: 'assistant', content: 'done' } as const]
  await store.commitStep({ ...write, messages, checkpointId: 'cp', outcome })
}

interface CutOff {
  readonly agent: Agent
  readonly scenario: ExecutorScenario
}

/** A process that died in a step with these calls: `hang` never ends, each of the others has. */
async function cutOff(
  subject: ExecutorSubject,
  names: readonly ('hang' | 'count' | 'finish')[],
  steps: readonly MockStep[] = [say('checked')],
): Promise<CutOff> {
  const hung = newGate()
  const hang = newTool({ name: 'hang', execute: () => (hung.open(), never()) })
  const finish = newTool({
    name: 'finish',
    finishWith: true,
    execute: async () => ({ by: 'finish' }),
  })
  const agent = newAgent({ tools: [count, hang, finish] })
  const step = call(names.map((name) => [name] as const))
  const scenario = await subject.createExecutor(new MockLLMAdapter([step, ...steps]))
  await start(scenario.executor, agent)
  await within(hung.passed)
  await untilStored(
    scenario,
    names.flatMap((name, index) => (name === 'hang' ? [] : [`c${index}`])),
  )
  return { agent, scenario }
}

async function resumed(scenario: ExecutorScenario, agent: Agent): Promise<RunEnding> {
  const next = await scenario.restart()
  return endOf(await within(next.resume(agent, SESSION)))
}

/** The oldest checkpoint of the session. */
async function firstCheckpoint({ store }: ExecutorScenario): Promise<string> {
  const id = (await store.listCheckpoints(SESSION)).items.at(-1)?.id
  check(id !== undefined, 'a checkpoint')
  return id
}
