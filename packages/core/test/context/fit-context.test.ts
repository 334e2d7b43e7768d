import {
  estimateTokens,
  fitContext,
  type FitContextOptions,
  type Message,
  type StepDraft,
} from '@helix-agents/core'
import { withWholeCalls } from '@helix-agents/core/runtime'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

const user = (content: string): Message => ({ role: 'user', content })
const answer = (...ids: readonly string[]): Message => ({
  role: 'assistant',
  content: '',
  toolCalls: ids.map((id) => ({ id, name: 'tool', arguments: {} })),
})
const result = (toolCallId: string): Message => ({
  role: 'tool',
  toolCallId,
  toolName: 'tool',
  content: 'done',
})

const estimate = ({ content }: Message): number => Number(content)

function draft(messages: readonly Message[]): StepDraft {
  return {
    messages,
    systemPrompt: undefined,
    tools: [],
    config: { model: 'm' },
    stepCount: 0,
    lastUsage: undefined,
    state: undefined,
    abortSignal: new AbortController().signal,
  }
}

function fit(messages: readonly Message[], options: Partial<FitContextOptions> = {}) {
  const hook = fitContext({ maxTokens: 6, keepTokens: 4, estimate: () => 1, ...options })
  const changes = hook(draft(messages))
  return changes !== undefined && 'messages' in changes ? (changes.messages ?? []) : []
}

describe('fitContext', () => {
  test('leaves a short conversation as it is', () => {
    const messages = [user('task'), answer('a'), result('a')]
    expect(fit(messages)).toBe(messages)
  })

  test('keeps the task and the last steps, and says that something is missing', () => {
    const messages = [
      user('task'),
      ...['a', 'b', 'c', 'd'].flatMap((id) => [answer(id), result(id)]),
    ]
    const kept = fit(messages)
    expect(kept[0]).toBe(messages[0])
    expect(kept[1]).toMatchObject({ role: 'user' })
    expect(kept.slice(2)).toEqual(messages.slice(-2))
  })

  test('counts the first message, which stays, and not those that are left out', () => {
    const messages = [user('1'), user('9'), user('1'), user('1'), user('1')]
    const kept = fit(messages, { maxTokens: 12, keepTokens: 4, estimate })
    expect(kept.filter((_, index) => index !== 1)).toEqual([messages[0], ...messages.slice(2)])
    const heavy = [user('3'), user('1'), user('1'), user('1'), user('9')]
    const left = fit(heavy, { maxTokens: 12, keepTokens: 12, estimate })
    expect(left.slice(2)).toEqual([heavy[4]])
  })

  test('keeps an answer with all results of its calls, however long', () => {
    const ids = ['b', 'c', 'd', 'e', 'f', 'g']
    const messages = [user('task'), answer('a'), result('a'), answer(...ids), ...ids.map(result)]
    expect(fit(messages).slice(2)).toEqual(messages.slice(3))
  })

  test('only adds to what it kept, until that is too long again', () => {
    const hook = fitContext({ maxTokens: 8, keepTokens: 4, estimate: () => 1 })
    const messages = [user('task')]
    const kept: (readonly Message[])[] = []
    for (let step = 0; step < 12; step += 1) {
      messages.push(answer(`${step}`), result(`${step}`))
      const changes = hook(draft(messages))
      if (changes !== undefined && 'messages' in changes) kept.push([...(changes.messages ?? [])])
    }
    const isLonger = kept.map((now, index) => {
      const before = kept[index - 1] ?? []
      return before.every((message, at) => now[at] === message)
    })
    expect(isLonger.filter(Boolean).length).toBeGreaterThan(6)
    expect(Math.max(...kept.map((now) => now.length))).toBeLessThanOrEqual(10)
  })

  test('begins anew for a conversation that was taken back', () => {
    const hook = fitContext({ maxTokens: 4, keepTokens: 2, estimate: () => 1 })
    const messages = [user('task'), ...['a', 'b', 'c'].flatMap((id) => [answer(id), result(id)])]
    void hook(draft(messages))
    messages.splice(3, 4, user('other'))
    expect(hook(draft(messages))).toMatchObject({ messages })
  })

  test('refuses limits that are none', () => {
    expect(() => fitContext({ maxTokens: 0 })).toThrow(RangeError)
    expect(() => fitContext({ maxTokens: 5, keepTokens: 6 })).toThrow(RangeError)
  })

  test('never cuts a call from its result', () => {
    const step = fc.integer({ min: 0, max: 4 })
    const conversation = fc.array(step, { maxLength: 40 })
    const limits = fc.tuple(fc.integer({ min: 1, max: 20 }), fc.integer({ min: 1, max: 20 }))
    const holds = fc.property(conversation, limits, (steps, [keepTokens, more]) => {
      const hook = fitContext({ maxTokens: keepTokens + more, keepTokens, estimate: () => 1 })
      const messages: Message[] = [user('task')]
      return steps.every((calls, index) => {
        const ids = Array.from({ length: calls }, (_, at) => `${index}.${at}`)
        messages.push(calls === 0 ? user('more') : answer(...ids), ...ids.map(result))
        const changes = hook(draft(messages))
        const kept = changes !== undefined && 'messages' in changes ? changes.messages : undefined
        return kept !== undefined && withWholeCalls(kept) === kept && kept[0] === messages[0]
      })
    })
    expect(fc.check(holds)).toMatchObject({ failed: false })
  })
})

describe('withWholeCalls', () => {
  test('leaves what is whole as it is', () => {
    const messages = [user('task'), answer('a', 'b'), result('a'), result('b'), user('more')]
    expect(withWholeCalls(messages)).toBe(messages)
  })

  test('leaves out results without their call, and calls without their result', () => {
    const half = { ...answer('b', 'c'), content: 'so', providerMetadata: { signed: 'both' } }
    const messages = [result('a'), user('task'), half, result('c'), result('x'), answer('d')]
    expect(withWholeCalls(messages)).toEqual([
      user('task'),
      { ...answer('c'), content: 'so' },
      result('c'),
    ])
  })
})

describe('estimateTokens', () => {
  const text = 'x'.repeat(35)
  const part = { type: 'text', text } as const
  const tool = { role: 'tool', toolCallId: '1', toolName: 'tool' } as const
  const toolCalls = [{ id: '1', name: 'tool', arguments: { text } }]
  const calls = Math.ceil(JSON.stringify(toolCalls).length / 3.5)

  test.each<readonly [string, Message, number]>([
    ['a text', user(text), 4 + 10],
    ['a text that is no whole number of them', user(`${text}x`), 4 + 11],
    ['nothing', user(''), 4],
    [
      'an answer and what was thought',
      { role: 'assistant', content: text, thinking: text },
      4 + 20,
    ],
    ['calls', { role: 'assistant', content: '', toolCalls }, 4 + calls],
    ['a result', { ...tool, content: text }, 4 + 10],
    ['texts of a result', { ...tool, content: [part, part] }, 4 + 20],
    [
      'a file of a result',
      {
        ...tool,
        content: [part, { type: 'media', mediaType: 'image/png', data: new Uint8Array(99) }],
      },
      4 + 10 + 1600,
    ],
    [
      'files of a person',
      {
        role: 'user',
        content: text,
        files: [
          { mediaType: 'image/png', data: text },
          { mediaType: 'image/png', data: '' },
        ],
      },
      4 + 10 + 2 * 1600,
    ],
  ])('counts %s', (_, message, expected) => {
    expect(estimateTokens(message)).toBe(expected)
  })
})
