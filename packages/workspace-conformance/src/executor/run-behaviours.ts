import { type StepInput, StateStoreError } from '@helix-agents/core'
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
  turn,
  within,
} from './agent-script.ts'
import type { ExecutorSubject } from './executor-subject.ts'

/** Longer than a stopped tool is waited for. */
const LONG_MS = 60_000

const echo = newTool({ name: 'echo', execute: async (_, input) => JSON.stringify(input) })

export const runBehaviours: readonly Behaviour<ExecutorSubject>[] = [
  {
    id: 'executor/run/completes-with-the-last-text',
    run: async (subject) => {
      const { executor, store } = await play(subject, [call([['echo']]), say('done')])
      const { status, output } = await runToEnd(executor, newAgent({ tools: [echo] }))
      equal([status, output], ['completed', 'done'])
      const head = await store.loadSession(SESSION)
      equal([head?.status, head?.output, head?.stepCount], ['completed', 'done', 2])
    },
  },
  {
    id: 'executor/run/stores-the-conversation',
    run: async (subject) => {
      const scenario = await play(subject, [call([['echo', { n: 1 }]]), say('done')])
      await runToEnd(scenario.executor, newAgent({ tools: [echo] }), 'hello')
      const [user, assistant, tool, last, ...more] = await messagesOf(scenario)
      equal([user?.role, user?.content], ['user', 'hello'])
      equal(assistant?.role === 'assistant' ? assistant.toolCalls : undefined, [
        { id: 'c0', name: 'echo', arguments: { n: 1 } },
      ])
      equal(tool?.role === 'tool' ? [tool.toolCallId, tool.toolName, tool.content] : [], [
        'c0',
        'echo',
        '{"n":1}',
      ])
      equal([last?.role, last?.content, more.length], ['assistant', 'done', 0])
    },
  },
  {
    id: 'executor/run/model-reads-the-conversation',
    run: async (subject) => {
      const seen: string[] = []
      const look = ({ messages }: StepInput): void => {
        seen.push(messages.map((message) => `${message.role}:${textOf(message)}`).join(' '))
      }
      const steps = [call([['echo', 1]]), say('done')].map((step) => (input: StepInput) => {
        look(input)
        return step
      })
      const { executor } = await play(subject, steps)
      await runToEnd(executor, newAgent({ tools: [echo] }), 'hello')
      equal(seen, ['user:hello', 'user:hello assistant: tool:1'])
    },
  },
  {
    id: 'executor/run/streams-in-order',
    run: async (subject) => {
      const first = { ...call([['echo']]), content: 'thinking aloud' }
      const { executor } = await play(subject, [first, say('done')])
      const handle = await start(executor, newAgent({ tools: [echo] }))
      const chunks = await chunksOf(handle)
      equal(
        chunks.map((chunk) => chunk.type),
        ['text_delta', 'tool_start', 'tool_end', 'text_delta', 'output'],
      )
      check(
        chunks.every((chunk, i) => i === 0 || chunk.sequence > (chunks[i - 1]?.sequence ?? 0)),
        'sequence numbers to rise',
      )
    },
  },
  {
    id: 'executor/run/ends-at-its-step-limit',
    run: async (subject) => {
      const steps = Array.from({ length: 9 }, (_, index) => call([['echo']], `s${index}-`))
      const { executor, store } = await play(subject, steps)
      const ending = await runToEnd(executor, newAgent({ tools: [echo], maxSteps: 3 }))
      equal([ending.status, ending.error?.code], ['failed', 'max-steps'])
      const head = await store.loadSession(SESSION)
      equal([head?.status, head?.error?.code, head?.stepCount], ['failed', 'max-steps', 3])
    },
  },
  {
    id: 'executor/run/fails-with-its-model',
    run: async (subject) => {
      const { executor, store } = await play(subject, [breakDown])
      equal((await runToEnd(executor, newAgent())).status, 'failed')
      equal((await store.loadSession(SESSION))?.status, 'failed')
    },
  },
  {
    id: 'executor/run/abort-reaches-the-model',
    run: async (subject) => {
      const [asked, stopped] = [newGate(), newGate()]
      const wait = async ({ abortSignal }: StepInput): Promise<never> => {
        asked.open()
        abortSignal.addEventListener('abort', stopped.open)
        return aborted(abortSignal)
      }
      const { executor, store } = await play(subject, [wait])
      const handle = await start(executor, newAgent())
      await within(asked.passed)
      await handle.abort()
      equal((await endOf(handle)).status, 'aborted')
      await within(stopped.passed)
      equal((await store.loadSession(SESSION))?.status, 'aborted')
    },
  },
  {
    id: 'executor/run/abort-reaches-the-tools',
    run: async (subject) => {
      const [started, stopped] = [newGate(), newGate()]
      const wait = newTool({
        name: 'wait',
        execute: ({ abortSignal }) => {
          started.open()
          abortSignal.addEventListener('abort', stopped.open)
          return aborted(abortSignal)
        },
      })
      const { executor } = await play(subject, [call([['wait']]), say('not reached')])
      const handle = await start(executor, newAgent({ tools: [wait] }))
      await within(started.passed)
      await handle.abort()
      equal((await endOf(handle)).status, 'aborted')
      await within(stopped.passed)
    },
  },
  {
    id: 'executor/run/abort-ends-a-tool-that-does-not-listen',
    run: async (subject) => {
      const started = newGate()
      const deaf = newTool({
        name: 'deaf',
        execute: () => {
          started.open()
          return never()
        },
      })
      const scenario = await play(subject, [call([['deaf']])])
      const handle = await start(scenario.executor, newAgent({ tools: [deaf] }))
      await within(started.passed)
      await handle.abort()
      await scenario.passTime(LONG_MS)
      equal((await endOf(handle)).status, 'aborted')
    },
  },
  {
    id: 'executor/run/ends-at-its-time-limit',
    run: async (subject) => {
      const asked = newGate()
      const wait = async ({ abortSignal }: StepInput): Promise<never> => {
        asked.open()
        return aborted(abortSignal)
      }
      const scenario = await play(subject, [wait])
      const handle = await start(scenario.executor, newAgent({ maxDurationMs: 1000 }))
      await within(asked.passed)
      await scenario.passTime(1000)
      const ending = await endOf(handle)
      equal([ending.status, ending.error?.code], ['failed', 'max-duration'])
    },
  },
  {
    id: 'executor/session/one-run-at-a-time',
    run: async (subject) => {
      const [asked, go] = [newGate(), newGate()]
      const slow = async (): Promise<ReturnType<typeof say>> => {
        asked.open()
        await go.passed
        return say('first')
      }
      const scenario = await play(subject, [slow, say('second')])
      const { executor } = scenario
      const handle = await start(executor, newAgent())
      await within(asked.passed)
      await rejectsWithCode('already-running', () => start(executor, newAgent()))
      const other = await scenario.another()
      await rejectsWithCode('already-running', () => start(other, newAgent()))
      go.open()
      const { status, output } = await endOf(handle)
      equal([status, output], ['completed', 'first'])
    },
  },
  {
    id: 'executor/session/takes-a-further-message',
    run: async (subject) => {
      const scenario = await play(subject, [say('one'), say('two')])
      await runToEnd(scenario.executor, newAgent(), 'first')
      equal((await runToEnd(scenario.executor, newAgent(), 'second')).output, 'two')
      equal(
        (await messagesOf(scenario)).map((message) => message.content),
        ['first', 'one', 'second', 'two'],
      )
      const runs = await scenario.store.listRuns(SESSION)
      equal(
        runs.map((run) => [run.turn, run.status]),
        [
          [1, 'completed'],
          [2, 'completed'],
        ],
      )
    },
  },
  {
    id: 'executor/session/interrupt-and-resume-lose-nothing',
    run: async (subject) => {
      const [started, go] = [newGate(), newGate()]
      const slow = newTool({
        name: 'slow',
        execute: async () => {
          started.open()
          await go.passed
          return 'slow result'
        },
      })
      const agent = newAgent({ tools: [slow] })
      const scenario = await play(subject, [call([['slow']]), say('done')])
      const handle = await start(scenario.executor, agent)
      await within(started.passed)
      await handle.interrupt()
      await turn()
      go.open()
      equal((await endOf(handle)).status, 'interrupted')
      equal((await scenario.executor.canResume(agent, SESSION)).canResume, true)
      const ending = await endOf(await scenario.executor.resume(agent, SESSION))
      equal([ending.status, ending.output], ['completed', 'done'])
      const messages = await messagesOf(scenario)
      equal(
        resultsIn(messages).map((result) => result.content),
        ['slow result'],
      )
      equal(messages.length, 4)
    },
  },
  {
    id: 'executor/session/unknown-cannot-be-resumed',
    run: async (subject) => {
      const { executor } = await play(subject, [])
      equal((await executor.canResume(newAgent(), 'nobody')).canResume, false)
      await rejectsWithCode('not-resumable', () => executor.resume(newAgent(), 'nobody'))
    },
  },
]

function breakDown(): never {
  throw new StateStoreError('unavailable', '', 'any error at all')
}

/** Rejects when the signal aborts, with its reason. */
function aborted(signal: AbortSignal): Promise<never> {
  const { promise, reject } = Promise.withResolvers<never>()
  if (signal.aborted) reject(signal.reason)
  signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  return promise
}
