import { check, equal } from '../assert.ts'
import type { Behaviour } from '../behaviour.ts'
import { answer, call, expectType, says, text, thought } from './model-script.ts'
import type { ModelSubject } from './model-subject.ts'

export const answerBehaviours: readonly Behaviour<ModelSubject>[] = [
  {
    id: 'model/text/is-the-answer',
    run: async (subject) => {
      const { result, emitted } = await answer(subject, says(text('Good ', 'morning, ', 'Zoë 🌱.')))
      const said = expectType(result, 'text')
      equal([said.content, said.shouldStop], ['Good morning, Zoë 🌱.', true])
      equal(emitted.texts.join(''), 'Good morning, Zoë 🌱.')
    },
  },
  {
    id: 'model/text/is-emitted-piece-by-piece',
    needs: ['streaming'],
    run: async (subject) => {
      const { emitted } = await answer(subject, says(text('one ', 'two ', 'three')))
      equal(emitted.texts, ['one ', 'two ', 'three'])
    },
  },
  {
    id: 'model/thinking/is-separate-from-text',
    needs: ['reasoning'],
    run: async (subject) => {
      const turn = says(thought('sig1', 'Let me ', 'see.'), text('Yes.'))
      const { result, emitted } = await answer(subject, turn)
      const said = expectType(result, 'text')
      equal([said.thinking, said.content], ['Let me see.', 'Yes.'])
      const pieces = emitted.thoughts.filter((one) => !one.isComplete).map((one) => one.content)
      equal(pieces.join(''), 'Let me see.')
      equal(emitted.thoughts.at(-1), { content: 'Let me see.', isComplete: true })
      equal(emitted.texts.join(''), 'Yes.')
    },
  },
  {
    id: 'model/calls/arguments-are-parsed',
    run: async (subject) => {
      const turn = says(call('c1', 'read_page', '{"page":', ' 7, "mode": "fast"}'))
      const { result } = await answer(subject, turn)
      const { toolCalls } = expectType(result, 'tool_calls')
      const expected = { id: 'c1', name: 'read_page', arguments: { page: 7, mode: 'fast' } }
      equal(toolCalls, [expected])
    },
  },
  {
    id: 'model/calls/without-arguments-have-an-empty-object',
    run: async (subject) => {
      const { result } = await answer(subject, says(call('c1', 'stop_work', '{}')))
      equal(expectType(result, 'tool_calls').toolCalls[0]?.arguments, {})
    },
  },
  {
    id: 'model/calls/in-parallel-keep-their-order',
    run: async (subject) => {
      const ids = ['c1', 'c2', 'c3']
      const calls = ids.map((id, index) => call(id, 'read_page', `{"page":`, ` ${index}}`))
      const { result } = await answer(subject, says(...calls))
      const { toolCalls } = expectType(result, 'tool_calls')
      equal(
        toolCalls.map((one) => [one.id, one.arguments]),
        ids.map((id, page) => [id, { page }]),
      )
    },
  },
  {
    id: 'model/calls/keep-the-text-before-them',
    run: async (subject) => {
      const turn = says(text('I will ', 'look.'), call('c1', 'read_page', '{"page":1}'))
      const { result, emitted } = await answer(subject, turn)
      const said = expectType(result, 'tool_calls')
      equal([said.content, said.toolCalls.length], ['I will look.', 1])
      equal(emitted.texts.join(''), 'I will look.')
    },
  },
  {
    id: 'model/calls/input-is-emitted-while-it-is-written',
    needs: ['tool-input'],
    run: async (subject) => {
      const turn = says(call('c1', 'read_page', '{"page":', ' 12', '}'))
      const { emitted } = await answer(subject, turn)
      check(emitted.inputs.length > 1, 'the arguments in more than one piece')
      equal(emitted.inputs.map((piece) => piece.delta).join(''), '{"page": 12}')
      check(
        emitted.inputs.every(
          (piece) => piece.toolCallId === 'c1' && piece.toolName === 'read_page',
        ),
        'each piece to name its call and tool',
      )
    },
  },
  {
    id: 'model/calls/arguments-that-are-no-json-are-a-problem',
    needs: ['streaming'],
    run: async (subject) => {
      const turn = says(
        call('c1', 'read_page', '{"page": seven', '}'),
        call('c2', 'read_page', '{"page":2}'),
      )
      const { result } = await answer(subject, turn)
      const [bad, good] = expectType(result, 'tool_calls').toolCalls
      equal([bad?.id, bad?.problem, bad?.arguments], ['c1', 'malformed', '{"page": seven}'])
      equal([good?.id, good?.problem, good?.arguments], ['c2', undefined, { page: 2 }])
    },
  },
  {
    id: 'model/calls/that-are-cut-off-are-a-problem',
    needs: ['streaming'],
    run: async (subject) => {
      const { parts } = { parts: [call('c1', 'read_page', '{"page": 1, "mo')] }
      const { result } = await answer(subject, { type: 'answer', parts, end: 'length' })
      const [cut] = expectType(result, 'tool_calls').toolCalls
      equal([cut?.name, cut?.problem], ['read_page', 'truncated'])
    },
  },
  {
    id: 'model/end/a-limit-of-tokens-is-reported',
    needs: ['streaming'],
    run: async (subject) => {
      const turn = { type: 'answer', parts: [text('It was a')], end: 'length' } as const
      const { result } = await answer(subject, turn)
      const said = expectType(result, 'text')
      equal([said.content, said.stopReason], ['It was a', 'length'])
    },
  },
  {
    id: 'model/usage/is-counted',
    run: async (subject) => {
      const usage = { inputTokens: 120, outputTokens: 30 }
      const { result } = await answer(subject, { type: 'answer', parts: [text('a')], usage })
      const { inputTokens, outputTokens } = result.usage ?? {}
      equal([inputTokens, outputTokens], [120, 30])
    },
  },
  {
    id: 'model/usage/cached-and-reasoning-tokens-are-separate',
    needs: ['reasoning'],
    run: async (subject) => {
      const parts = [text('a')]
      const usage = {
        inputTokens: 120,
        outputTokens: 30,
        cachedInputTokens: 100,
        reasoningTokens: 20,
      }
      const { result } = await answer(subject, { type: 'answer', parts, usage })
      const { inputTokens, cachedInputTokens, outputTokens, totalTokens } = result.usage ?? {}
      equal([inputTokens, cachedInputTokens], [120, 100])
      equal([outputTokens, totalTokens], [30, 150])
    },
  },
  {
    id: 'model/structured-output/is-parsed',
    needs: ['structured-output'],
    run: async (subject) => {
      const responseSchema = {
        type: 'object',
        properties: { total: { type: 'number' } },
        required: ['total'],
        additionalProperties: false,
      }
      const turn = says(text('{"total":', ' 12.5}'))
      const { result } = await answer(subject, turn, { tools: [], config: { responseSchema } })
      equal(expectType(result, 'structured_output').output, { total: 12.5 })
    },
  },
]
