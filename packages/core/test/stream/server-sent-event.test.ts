import { parseLastEventId, type SequencedChunk } from '@helix-agents/core/runtime'
import { encodeServerSentEvent } from '../../src/stream/server-sent-event.ts'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'

const base = { agentId: 'run', agentType: 'agent', timestamp: 5, sequence: 7 } as const

function dataOf(chunk: unknown): unknown {
  const [, , data = ''] = encodeServerSentEvent(chunk as SequencedChunk).split('\n')
  return JSON.parse(data.slice('data: '.length))
}

describe('one event', () => {
  test('has the sequence number, the type and the chunk on three lines', () => {
    const event = encodeServerSentEvent({ ...base, type: 'text_delta', delta: 'a\r\nb\u2028c' })
    expect(event.split(/\r\n|\r|\n/)).toEqual([
      'id: 7',
      'event: text_delta',
      expect.stringMatching(/^data: \{.*"delta":"a\\r\\nb\u2028c".*\}$/),
      '',
      '',
    ])
  })

  test('holds bytes as base64, wherever they are', () => {
    const result = [Buffer.from('hi'), { deep: new Uint8Array([1, 2, 3, 4]).subarray(1, 3) }]
    const end = { ...base, type: 'tool_end', toolCallId: 'c', toolName: 't', success: true, result }
    expect(dataOf(end)).toEqual({
      ...end,
      result: [{ $bytes: 'aGk=' }, { deep: { $bytes: 'AgM=' } }],
    })
  })

  test('holds what JSON has no word for', () => {
    const circle: Record<string, unknown> = {}
    circle.self = circle
    const custom = { ...base, type: 'custom', eventName: 'e' }
    expect(dataOf({ ...custom, data: { big: 2n ** 64n } })).toEqual({
      ...custom,
      data: { big: '18446744073709551616' },
    })
    expect(dataOf({ ...custom, data: circle })).toEqual({ ...custom, data: null })
    const hostile = {
      toJSON: () => {
        throw new Error('no')
      },
    }
    expect(dataOf({ ...custom, data: hostile })).toEqual({ ...custom, data: null })
  })
})

describe('Last-Event-ID', () => {
  test('asks for what follows', () => {
    expect(parseLastEventId('0')).toBe(1)
    expect(parseLastEventId('41')).toBe(42)
    fc.assert(
      fc.property(fc.nat(Number.MAX_SAFE_INTEGER - 1), (sequence) => {
        expect(parseLastEventId(String(sequence))).toBe(sequence + 1)
      }),
    )
  })

  test.each([
    null,
    undefined,
    '',
    ' 1',
    '1 ',
    '+1',
    '-1',
    '1.0',
    '1e3',
    '0x1',
    '01',
    '٣',
    'NaN',
    '1, 2',
  ])('that is %j asks for the start', (header) => expect(parseLastEventId(header)).toBeUndefined())

  test.each([String(Number.MAX_SAFE_INTEGER), '9'.repeat(16), '9'.repeat(100_000)])(
    'that is too large asks for the start',
    (header) => expect(parseLastEventId(header)).toBeUndefined(),
  )

  test('never gives a number that cannot be used', () => {
    fc.assert(
      fc.property(fc.string(), (header) => {
        const fromSequence = parseLastEventId(header)
        expect(fromSequence === undefined || Number.isSafeInteger(fromSequence)).toBe(true)
      }),
    )
  })
})
