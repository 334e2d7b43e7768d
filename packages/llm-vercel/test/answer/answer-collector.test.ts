// What an answer is, part by part: what is emitted while it comes, and what is kept of it.
import type { LanguageModelV4StreamPart } from '@ai-sdk/provider'
import { describe, expect, test } from 'vitest'
import { AnswerCollector } from '../../src/answer/answer-collector.ts'
import { StreamFailure } from '../../src/failure/stream-failure.ts'

function collect(...parts: readonly LanguageModelV4StreamPart[]) {
  const emitted: unknown[] = []
  const collector = new AnswerCollector({
    onTextDelta: (delta) => emitted.push(['text', delta]),
    onThinking: (content, isWhole) => emitted.push(['thinking', content, isWhole]),
    onToolInput: (input) => emitted.push(['input', input]),
  })
  for (const part of parts) collector.add(part)
  const { hasSpoken, end } = collector
  return { emitted, blocks: collector.parts.blocks, hasSpoken, end }
}

const metadata = (n: number) => ({ test: { n } })

describe('text', () => {
  test('is emitted as it comes, and kept in one block for each id', () => {
    const { blocks, emitted, hasSpoken } = collect(
      { type: 'text-start', id: '1', providerMetadata: metadata(1) },
      { type: 'text-delta', id: '1', delta: 'Hel' },
      { type: 'text-delta', id: '2', delta: 'and' },
      { type: 'text-delta', id: '1', delta: '' },
      { type: 'text-delta', id: '1', delta: 'lo' },
      { type: 'text-end', id: '1', providerMetadata: metadata(2) },
    )
    expect(emitted).toEqual([
      ['text', 'Hel'],
      ['text', 'and'],
      ['text', 'lo'],
    ])
    expect(blocks).toEqual([
      { kind: 'text', text: 'Hello', metadata: metadata(2) },
      { kind: 'text', text: 'and', metadata: undefined },
    ])
    expect(hasSpoken).toBe(true)
  })

  test('that says nothing is not spoken', () => {
    const { blocks, emitted, hasSpoken } = collect(
      { type: 'text-start', id: '1' },
      { type: 'text-delta', id: '1', delta: '' },
      { type: 'text-end', id: '1' },
    )
    expect([emitted, hasSpoken, blocks.length]).toEqual([[], false, 1])
  })
})

describe('reasoning', () => {
  test('is emitted as it comes, and whole at its end', () => {
    const { blocks, emitted, hasSpoken } = collect(
      { type: 'reasoning-start', id: '1' },
      { type: 'reasoning-delta', id: '1', delta: 'H' },
      { type: 'reasoning-delta', id: '1', delta: 'm' },
      { type: 'reasoning-end', id: '1', providerMetadata: metadata(1) },
    )
    expect(emitted).toEqual([
      ['thinking', 'H', false],
      ['thinking', 'm', false],
      ['thinking', 'Hm', true],
    ])
    expect(blocks).toEqual([{ kind: 'reasoning', text: 'Hm', metadata: metadata(1) }])
    expect(hasSpoken).toBe(true)
  })

  test('without words is kept for its metadata, and emits nothing', () => {
    const { blocks, emitted, hasSpoken } = collect(
      { type: 'reasoning-start', id: '1' },
      { type: 'reasoning-end', id: '1', providerMetadata: metadata(1) },
    )
    expect(emitted).toEqual([])
    expect(hasSpoken).toBe(false)
    expect(blocks).toEqual([{ kind: 'reasoning', text: '', metadata: metadata(1) }])
  })

  test('and text of the same id are two', () => {
    const { blocks } = collect(
      { type: 'reasoning-delta', id: '0', delta: 'Hm' },
      { type: 'text-delta', id: '0', delta: 'Yes' },
    )
    expect(blocks.map(({ kind, text }) => [kind, text])).toEqual([
      ['reasoning', 'Hm'],
      ['text', 'Yes'],
    ])
  })
})

describe('a call', () => {
  const start = { type: 'tool-input-start', id: 'c', toolName: 'run' } as const
  const call = { type: 'tool-call', toolCallId: 'c', toolName: 'run', input: '{"a":1}' } as const

  test('is emitted as its input comes, which the whole call replaces', () => {
    const { blocks, emitted, hasSpoken } = collect(
      start,
      { type: 'tool-input-delta', id: 'c', delta: '{"a"' },
      { type: 'tool-input-delta', id: 'c', delta: '' },
      { type: 'tool-input-end', id: 'c' },
      { ...call, providerMetadata: metadata(1) },
    )
    expect(emitted).toEqual([['input', { toolCallId: 'c', toolName: 'run', delta: '{"a"' }]])
    expect(blocks).toEqual([
      {
        kind: 'call',
        id: 'c',
        name: 'run',
        text: '{"a":1}',
        isComplete: true,
        metadata: metadata(1),
      },
    ])
    expect(hasSpoken).toBe(true)
  })

  test('that is not complete stays so', () => {
    const { blocks, hasSpoken } = collect(start, { type: 'tool-input-delta', id: 'c', delta: '{' })
    expect(blocks).toMatchObject([{ text: '{', isComplete: false }])
    expect(hasSpoken).toBe(true)
    expect(collect(start)).toMatchObject({ emitted: [], hasSpoken: false })
  })

  test('without streamed input is whole at once', () => {
    expect(collect(call)).toMatchObject({
      blocks: [{ id: 'c', name: 'run', text: '{"a":1}', isComplete: true }],
      emitted: [],
      hasSpoken: false,
    })
  })

  test('of the same id is another one, when the first is complete or of another tool', () => {
    const { blocks } = collect(call, { ...call, input: '2' })
    expect(blocks.map(({ text }) => text)).toEqual(['{"a":1}', '2'])
    const others = collect(start, { ...call, toolName: 'other' }).blocks
    expect(others).toMatchObject([
      { name: 'run', isComplete: false },
      { name: 'other', isComplete: true },
    ])
  })

  test('that the provider makes itself is not ours', () => {
    const made = { providerExecuted: true }
    const { blocks, emitted } = collect(
      { ...start, ...made },
      { type: 'tool-input-delta', id: 'c', delta: '{' },
      { ...call, ...made },
    )
    expect([blocks, emitted]).toEqual([[], []])
  })
})

test('the end says why, and what it cost', () => {
  const usage = {
    inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: 1, text: 1, reasoning: 0 },
  }
  const finishReason = { unified: 'stop', raw: 'end_turn' } as const
  expect(collect().end).toBeUndefined()
  expect(collect({ type: 'finish', finishReason, usage }).end).toEqual({
    reason: finishReason,
    usage,
  })
})

test('an error in the stream is thrown with its cause', () => {
  const cause = { type: 'overloaded_error' }
  const collector = new AnswerCollector({})
  expect(() => collector.add({ type: 'error', error: cause })).toThrow(StreamFailure)
  expect(() => collector.add({ type: 'error', error: cause })).toThrow(
    expect.objectContaining({ cause }),
  )
})

test('nobody has to listen', () => {
  const collector = new AnswerCollector({})
  collector.add({ type: 'text-delta', id: '1', delta: 'a' })
  collector.add({ type: 'reasoning-delta', id: '2', delta: 'b' })
  collector.add({ type: 'tool-input-start', id: '3', toolName: 't' })
  collector.add({ type: 'tool-input-delta', id: '3', delta: 'c' })
  expect(collector.parts.blocks.map(({ text }) => text)).toEqual(['a', 'b', 'c'])
})
