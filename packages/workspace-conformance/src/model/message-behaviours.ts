import type { Message } from '@helix-agents/core'
import { check, equal } from '../assert.ts'
import type { Behaviour } from '../behaviour.ts'
import {
  answer,
  call,
  expectType,
  READ_TOOL,
  resultOf,
  says,
  step,
  SYSTEM,
  text,
  thought,
  toMessage,
  user,
} from './model-script.ts'
import type { ModelSubject, SeenCall, SeenMessage } from './model-subject.ts'

const PIXEL = new Uint8Array([137, 80, 78, 71, 13, 10, 26, 10, 0, 255])
const PIXEL_BASE64 = 'iVBORw0KGgoA/w=='

export const messageBehaviours: readonly Behaviour<ModelSubject>[] = [
  {
    id: 'model/input/prompt-messages-and-tools-reach-the-model',
    run: async (subject) => {
      await answer(subject, says(text('a')), { messages: [user('Räume auf.')] })
      const seen = lastCall(subject)
      check(seen.system.includes(SYSTEM), 'the system prompt')
      equal(seen.messages, [{ role: 'user', text: 'Räume auf.', files: [] }])
      equal(
        seen.tools.map((tool) => tool.name),
        ['read_page', 'stop_work'],
      )
      equal(
        fieldNames(seen.tools[0]?.parameters),
        Object.keys(READ_TOOL.parameters['properties'] ?? {}),
      )
    },
  },
  {
    id: 'model/input/results-reach-the-model-with-their-calls',
    run: async (subject) => {
      const first = await twoCalls(subject)
      const messages = [...first, resultOf('c1', 'page one'), resultOf('c2', 'no page two', true)]
      await answer(subject, says(text('Done.')), { messages })
      const seen = lastCall(subject).messages
      equal(
        seen.map(({ role }) => role),
        ['user', 'assistant', 'tool'],
      )
      equal(callsIn(seen), [
        { id: 'c1', name: 'read_page', arguments: { page: 1 } },
        { id: 'c2', name: 'read_page', arguments: { page: 2 } },
      ])
      const results = resultsIn(seen)
      equal(
        results.map((result) => result.toolCallId),
        ['c1', 'c2'],
      )
      equal(results[0]?.text, 'page one')
      check(results[1]?.text.includes('no page two') === true, 'the error of the second call')
    },
  },
  {
    id: 'model/input/unreadable-arguments-do-not-break-the-next-step',
    run: async (subject) => {
      const bad: Message = {
        role: 'assistant',
        content: '',
        toolCalls: [{ id: 'c1', name: 'read_page', arguments: '{"pa', problem: 'malformed' }],
      }
      const messages = [user('Go.'), bad, resultOf('c1', 'not valid', true)]
      const { result } = await answer(subject, says(text('Again.')), { messages })
      equal(expectType(result, 'text').content, 'Again.')
    },
  },
  {
    id: 'model/input/is-not-changed',
    run: async (subject) => {
      const messages = [...(await twoCalls(subject)), resultOf('c1', 'x'), resultOf('c2', 'y')]
      const before = JSON.stringify(messages)
      await answer(subject, says(text('Done.')), { messages })
      equal(JSON.stringify(messages), before)
    },
  },
  {
    id: 'model/input/what-was-sent-stays-as-it-was',
    run: async (subject) => {
      const messages = [...(await twoCalls(subject)), resultOf('c1', 'x'), resultOf('c2', 'y')]
      await answer(subject, says(text('Half.')), { messages })
      const before = JSON.stringify(lastCall(subject).messages)
      messages.push({ role: 'assistant', content: 'Half.' }, user('Go on.'))
      await answer(subject, says(text('Done.')), { messages })
      const after = lastCall(subject).messages
      equal(JSON.stringify(after.slice(0, -2)), before)
      equal(after.at(-1), { role: 'user', text: 'Go on.', files: [] })
    },
  },
  {
    id: 'model/input/signed-reasoning-comes-back',
    needs: ['reasoning'],
    run: async (subject) => {
      const turn = says(
        thought('sigA', 'I need page 1.'),
        text('Reading.'),
        call('c1', 'read_page', '{"page":1}'),
      )
      const { result } = await answer(subject, turn)
      // What a store keeps is JSON.
      const stored: Message = JSON.parse(JSON.stringify(toMessage(result)))
      const messages = [user('Go.'), stored, resultOf('c1', 'page one')]
      await answer(subject, says(text('Done.')), { messages })
      const assistant = lastCall(subject).messages.find(({ role }) => role === 'assistant')
      check(assistant?.role === 'assistant', 'the answer to come back')
      equal([assistant.signatures, assistant.text], [['sigA'], 'Reading.'])
      equal(assistant.calls.length, 1)
    },
  },
  {
    id: 'model/input/files-of-the-user-reach-the-model',
    needs: ['media'],
    run: async (subject) => {
      const file = { data: PIXEL, mediaType: 'image/png' }
      const messages: Message[] = [{ role: 'user', content: 'What is it?', files: [file] }]
      await answer(subject, says(text('A pixel.')), { messages })
      equal(lastCall(subject).messages, [
        {
          role: 'user',
          text: 'What is it?',
          files: [{ mediaType: 'image/png', base64: PIXEL_BASE64 }],
        },
      ])
    },
  },
  {
    id: 'model/input/images-of-results-reach-the-model',
    needs: ['media'],
    run: async (subject) => {
      const { result } = await answer(subject, says(call('c1', 'read_page', '{"page":1}')))
      const content = [
        { type: 'text', text: 'The page:' },
        { type: 'media', mediaType: 'image/png', data: PIXEL },
      ] as const
      const picture: Message = { role: 'tool', toolCallId: 'c1', toolName: 'read_page', content }
      const messages = [user('Go.'), toMessage(result), picture]
      await answer(subject, says(text('Done.')), { messages })
      const seen = lastCall(subject).messages
      check(resultsIn(seen)[0]?.text.includes('The page:') === true, 'the text of the result')
      const files = seen.flatMap((message) => {
        if (message.role === 'user') return message.files
        return message.role === 'tool' ? message.results.flatMap((one) => one.files) : []
      })
      equal(files, [{ mediaType: 'image/png', base64: PIXEL_BASE64 }])
    },
  },
  {
    id: 'model/settings/reach-the-provider',
    needs: ['settings'],
    run: async (subject) => {
      const config = { maxOutputTokens: 321, headers: { 'x-tenant': 'acme' } }
      await answer(subject, says(text('a')), { config })
      const seen = lastCall(subject)
      equal([seen.maxOutputTokens, seen.headers['x-tenant']], [321, 'acme'])
    },
  },
  {
    id: 'model/steps/at-the-same-time-do-not-mix',
    run: async (subject) => {
      subject.plan(says(text('same ', 'words')), says(text('same ', 'words')))
      const steps = ['first', 'second'].map((name) => step(subject, { messages: [user(name)] }))
      const results = await Promise.all(steps.map(({ result }) => result))
      for (const result of results) equal(expectType(result, 'text').content, 'same words')
      for (const { emitted } of steps) equal(emitted.texts.join(''), 'same words')
      const asked = subject.calls.map(({ messages }) => JSON.stringify(messages))
      check(asked.filter((one) => one.includes('first')).length === 1, 'one call of the first step')
      check(asked.filter((one) => one.includes('second')).length === 1, 'one call of the second')
    },
  },
]

/** The conversation up to an answer with two calls. */
async function twoCalls(subject: ModelSubject): Promise<Message[]> {
  const calls = [1, 2].map((page) => call(`c${page}`, 'read_page', `{"page":${page}}`))
  const { result } = await answer(subject, says(...calls))
  return [user('Go.'), toMessage(result)]
}

function lastCall({ calls }: ModelSubject): SeenCall {
  const last = calls.at(-1)
  check(last !== undefined, 'a call to reach the provider')
  return last
}

function callsIn(messages: readonly SeenMessage[]) {
  return messages.flatMap((message) => (message.role === 'assistant' ? message.calls : []))
}

function resultsIn(messages: readonly SeenMessage[]) {
  return messages.flatMap((message) => (message.role === 'tool' ? message.results : []))
}

function fieldNames(parameters: unknown): readonly string[] {
  const isObject = typeof parameters === 'object' && parameters !== null
  const fields: unknown = isObject ? Reflect.get(parameters, 'properties') : undefined
  return typeof fields === 'object' && fields !== null ? Object.keys(fields) : []
}
