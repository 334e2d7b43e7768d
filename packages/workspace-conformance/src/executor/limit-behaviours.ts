import type { StepResult } from '@helix-agents/core'
import { contentLimits } from '@helix-agents/core/runtime'
import { check, equal } from '../assert.ts'
import type { Behaviour } from '../behaviour.ts'
import {
  call,
  lastResult,
  messagesOf,
  newAgent,
  newTool,
  play,
  runToEnd,
  say,
} from './agent-script.ts'
import type { ExecutorSubject } from './executor-subject.ts'

/** What a model answers is outside input: bounded, and never stored unless it can be read again. */
export const limitBehaviours: readonly Behaviour<ExecutorSubject>[] = [
  {
    id: 'executor/limits/deep-arguments-go-to-the-model',
    run: async (subject) => {
      let runs = 0
      const tool = newTool({ name: 'note', execute: async () => `run ${++runs}` })
      const scenario = await play(subject, [call([['note', deep(3000)]]), say('done')])
      const { status, output } = await runToEnd(scenario.executor, newAgent({ tools: [tool] }))
      equal([status, output, runs], ['completed', 'done', 0])
      const messages = await messagesOf(scenario)
      equal(messages.length, 4)
      const result = lastResult(messages)
      check(
        result.includes(`${contentLimits.maxDepth} levels`),
        `the limit in the result: ${result}`,
      )
    },
  },
  {
    id: 'executor/limits/answer-that-is-too-large-is-not-stored',
    run: async (subject) => {
      const scenario = await play(subject, [say('x'.repeat(contentLimits.maxCharacters + 1))])
      const { status, error } = await runToEnd(scenario.executor, newAgent())
      equal([status, error?.code], ['failed', 'answer-too-large'])
      equal((await messagesOf(scenario)).length, 1)
    },
  },
  {
    id: 'executor/limits/call-without-a-name-is-not-stored',
    run: async (subject) => {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- an adapter may answer anything
      const bad = { type: 'tool_calls', toolCalls: [{ id: 'a', arguments: {} }] } as never
      const scenario = await play(subject, [(): StepResult => bad, say('done')])
      const { status, output } = await runToEnd(scenario.executor, newAgent())
      equal([status, output], ['completed', 'done'])
      equal(
        (await messagesOf(scenario)).map(({ role }) => role),
        ['user', 'assistant'],
      )
    },
  },
]

function deep(levels: number): unknown {
  let value: unknown = 0
  for (let level = 0; level < levels; level++) value = [value]
  return value
}
