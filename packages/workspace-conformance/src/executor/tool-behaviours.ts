import { type StepResult, ToolInputError } from '@helix-agents/core'
import { check, equal } from '../assert.ts'
import type { Behaviour } from '../behaviour.ts'
import {
  agentWithBox,
  call,
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
  untilStored,
  within,
} from './agent-script.ts'
import type { ExecutorSubject } from './executor-subject.ts'

export const toolBehaviours: readonly Behaviour<ExecutorSubject>[] = [
  {
    id: 'executor/tools/read-only-ones-run-together',
    run: async (subject) => {
      const gates = { a: newGate(), b: newGate() }
      const a = newTool({
        name: 'a',
        readOnly: true,
        execute: async () => {
          gates.a.open()
          await gates.b.passed
          return 'a'
        },
      })
      const b = newTool({
        name: 'b',
        readOnly: true,
        execute: async () => {
          gates.b.open()
          await gates.a.passed
          return 'b'
        },
      })
      const { executor } = await play(subject, [call([['a'], ['b']]), say('done')])
      equal((await runToEnd(executor, newAgent({ tools: [a, b] }))).status, 'completed')
    },
  },
  {
    id: 'executor/tools/mutations-keep-their-order',
    run: async (subject) => {
      const log: string[] = []
      const change = newTool({
        name: 'change',
        execute: async (_, input) => {
          log.push(`start ${String(input)}`)
          await turn()
          log.push(`end ${String(input)}`)
          return ''
        },
      })
      const calls = [1, 2, 3].map((input) => ['change', input] as const)
      const { executor } = await play(subject, [call(calls), say('done')])
      await runToEnd(executor, newAgent({ tools: [change] }))
      equal(log, ['start 1', 'end 1', 'start 2', 'end 2', 'start 3', 'end 3'])
    },
  },
  {
    id: 'executor/tools/results-are-in-the-order-of-the-calls',
    run: async (subject) => {
      const last = newGate()
      const first = newTool({
        name: 'first',
        readOnly: true,
        execute: async () => {
          await last.passed
          await turn()
          return 'first'
        },
      })
      const second = newTool({
        name: 'second',
        readOnly: true,
        execute: async () => {
          last.open()
          return 'second'
        },
      })
      const scenario = await play(subject, [call([['first'], ['second']]), say('done')])
      await runToEnd(scenario.executor, newAgent({ tools: [first, second] }))
      equal(
        resultsIn(await messagesOf(scenario)).map((result) => result.content),
        ['first', 'second'],
      )
    },
  },
  {
    id: 'executor/tools/malformed-arguments-go-to-the-model',
    run: async (subject) => {
      const strict = newTool({
        name: 'strict',
        parse: () => {
          const issues = [{ path: 'size', message: 'expected a number' }]
          throw new ToolInputError('invalid-input', 'the arguments are not valid', { issues })
        },
        execute: never,
      })
      const scenario = await play(subject, [call([['strict', '{"size":']]), say('sorry')])
      const ending = await runToEnd(scenario.executor, newAgent({ tools: [strict] }))
      equal([ending.status, ending.output], ['completed', 'sorry'])
      const [result] = resultsIn(await messagesOf(scenario))
      equal(result?.isError, true)
      check(textOf(result).includes('[invalid-input]'), 'the code in the result')
      check(textOf(result).includes('size'), 'the failing field in the result')
    },
  },
  {
    id: 'executor/tools/unknown-one-goes-to-the-model',
    run: async (subject) => {
      const scenario = await play(subject, [call([['no_such_tool']]), say('sorry')])
      equal((await runToEnd(scenario.executor, newAgent())).output, 'sorry')
      const [result] = resultsIn(await messagesOf(scenario))
      equal(result?.isError, true)
      check(textOf(result).includes('[unknown-tool]'), 'the code in the result')
    },
  },
  {
    id: 'executor/tools/failure-goes-to-the-model-without-secrets',
    run: async (subject) => {
      const broken = newTool({
        name: 'broken',
        execute: () => Promise.reject(new Error('at /home/operator: token s3cret')),
      })
      const scenario = await play(subject, [call([['broken']]), say('sorry')])
      equal((await runToEnd(scenario.executor, newAgent({ tools: [broken] }))).output, 'sorry')
      const [result] = resultsIn(await messagesOf(scenario))
      equal(result?.isError, true)
      check(!/operator|s3cret/.test(JSON.stringify(result)), 'no text of a foreign error')
    },
  },
  {
    id: 'executor/tools/time-limit-goes-to-the-model',
    run: async (subject) => {
      const started = newGate()
      const slow = newTool({
        name: 'slow',
        timeoutMs: 1000,
        execute: ({ abortSignal }) => {
          started.open()
          return new Promise((_, reject) => {
            abortSignal.addEventListener('abort', () => reject(abortSignal.reason))
          })
        },
      })
      const scenario = await play(subject, [call([['slow']]), say('sorry')])
      const handle = await start(scenario.executor, newAgent({ tools: [slow] }))
      await within(started.passed)
      await scenario.passTime(1000)
      equal((await endOf(handle)).output, 'sorry')
      const [result] = resultsIn(await messagesOf(scenario))
      check(textOf(result).includes('[tool-timeout]'), 'the code in the result')
    },
  },
  {
    id: 'executor/crash/started-call-is-reported-as-unknown',
    run: async (subject) => {
      const started = newGate()
      let calls = 0
      const deploy = newTool({
        name: 'deploy',
        execute: () => {
          calls++
          started.open()
          return never()
        },
      })
      const agent = newAgent({ tools: [deploy] })
      const scenario = await play(subject, [call([['deploy']]), say('checked')])
      await start(scenario.executor, agent)
      await within(started.passed)
      const next = await scenario.restart()
      const ending = await endOf(await within(next.resume(agent, SESSION)))
      equal([ending.status, ending.output, calls], ['completed', 'checked', 1])
      const [result, ...more] = resultsIn(await messagesOf(scenario))
      equal([result?.toolCallId, result?.isError, more.length], ['c0', true, 0])
      check(textOf(result).includes('[outcome-unknown]'), 'the code in the result')
    },
  },
  {
    id: 'executor/crash/completed-call-is-not-run-again',
    run: async (subject) => {
      const hung = newGate()
      const log: string[] = []
      const change = newTool({
        name: 'change',
        execute: (_, input) => {
          log.push(String(input))
          if (input === 'first') return Promise.resolve('first is done')
          hung.open()
          return never()
        },
      })
      const agent = newAgent({ tools: [change] })
      const step = call([
        ['change', 'first'],
        ['change', 'second'],
      ])
      const scenario = await play(subject, [step, say('checked')])
      await start(scenario.executor, agent)
      await within(hung.passed)
      await untilStored(scenario, ['c0'])
      const next = await scenario.restart()
      await endOf(await within(next.resume(agent, SESSION)))
      equal(log, ['first', 'second'])
      const [first, second] = resultsIn(await messagesOf(scenario))
      equal([first?.content, second?.isError], ['first is done', true])
    },
  },
  {
    id: 'executor/crash/late-process-disturbs-nothing',
    run: async (subject) => {
      const [started, go] = [newGate(), newGate()]
      const slow = newTool({
        name: 'slow',
        execute: async () => {
          started.open()
          await go.passed
          return 'too late'
        },
      })
      const agent = newAgent({ tools: [slow] })
      let late: Promise<unknown> = Promise.resolve()
      const meanwhile = async (): Promise<StepResult> => {
        go.open()
        await late
        return say('checked')
      }
      const scenario = await play(subject, [call([['slow']]), meanwhile])
      const old = await start(scenario.executor, agent)
      late = endOf(old)
      await within(started.passed)
      const next = await scenario.restart()
      const ending = await endOf(await within(next.resume(agent, SESSION)))
      equal([ending.status, ending.output], ['completed', 'checked'])
      const messages = await messagesOf(scenario)
      equal(
        messages.map((message) => message.role),
        ['user', 'assistant', 'tool', 'assistant'],
      )
      check(textOf(messages[2]).includes('[outcome-unknown]'), 'the code in the result')
    },
  },
  {
    id: 'executor/tools/workspace-tools-check-their-arguments',
    run: async (subject) => {
      const wrong = call([['workspace__box__write_file', { path: 5 }]])
      const scenario = await play(subject, [wrong, say('sorry')])
      equal((await runToEnd(scenario.executor, agentWithBox(subject))).output, 'sorry')
      const [result] = resultsIn(await messagesOf(scenario))
      check(textOf(result).includes('[invalid-input]'), 'the code in the result')
    },
  },
]
