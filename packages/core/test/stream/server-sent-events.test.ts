import {
  createServerSentEventsResponse,
  parseLastEventId,
  type SequencedChunk,
  type ServerSentEventsOptions,
} from '@helix-agents/core/runtime'
import { createServerSentEvents } from '../../src/stream/server-sent-events.ts'
import { ManualClock } from '@helix-agents/core/testing'
import { createParser, type EventSourceMessage } from 'eventsource-parser'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'

/** What a body begins with by default. */
const DEFAULT_RETRY_MS = 2000
const BEGIN = `retry: ${DEFAULT_RETRY_MS}\n\n`

const delta = (sequence: number, text = `t${sequence}`): SequencedChunk => ({
  type: 'text_delta',
  delta: text,
  agentId: 'run',
  agentType: 'agent',
  timestamp: 5,
  sequence,
})

async function* list(chunks: readonly SequencedChunk[]): AsyncGenerator<SequencedChunk> {
  yield* chunks
}

/** A stream that says what it is told to, and notes how it was left. */
function controlled() {
  const { promise, resolve } = Promise.withResolvers<AbortSignal>()
  const waiting: ((result: IteratorResult<SequencedChunk>) => void)[] = []
  const seen = { asked: 0, returned: 0 }
  const iterator: AsyncIterator<SequencedChunk> = {
    next: () => {
      seen.asked++
      return new Promise((settle) => waiting.push(settle))
    },
    return: () => {
      seen.returned++
      return Promise.resolve({ done: true, value: undefined })
    },
  }
  return {
    seen,
    signal: promise,
    read: (signal: AbortSignal) => {
      resolve(signal)
      return { [Symbol.asyncIterator]: () => iterator }
    },
    say: (chunk: SequencedChunk) => waiting.shift()?.({ done: false, value: chunk }),
    end: () => waiting.shift()?.({ done: true, value: undefined }),
  }
}

function open(source: ReturnType<typeof controlled>, options: ServerSentEventsOptions = {}) {
  const clock = new ManualClock()
  const body = createServerSentEvents(source.read, { clock, ...options })
  const reader = body.getReader()
  const next = async (): Promise<string | undefined> => {
    const { value } = await reader.read()
    return value === undefined ? undefined : new TextDecoder().decode(value)
  }
  return { clock, reader, next }
}

function decode(pieces: readonly Uint8Array[]): EventSourceMessage[] {
  const events: EventSourceMessage[] = []
  const parser = createParser({ onEvent: (event) => events.push(event) })
  const decoder = new TextDecoder()
  for (const piece of pieces) parser.feed(decoder.decode(piece, { stream: true }))
  return events
}

async function bytesOf(chunks: readonly SequencedChunk[]): Promise<Uint8Array> {
  const response = createServerSentEventsResponse(() => list(chunks))
  return new Uint8Array(await response.arrayBuffer())
}

const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({
    unit: fc.constantFrom('\n', '\r', '\0', '\uFEFF', '\u2028', '😀', ':', 'data: x', ' '),
  }),
)
const common = { agentId: text, agentType: text, timestamp: fc.nat() }
const anyChunk = fc.oneof(
  fc.record({ ...common, type: fc.constant('text_delta' as const), delta: text }),
  fc.record({
    ...common,
    type: fc.constant('tool_end' as const),
    toolCallId: text,
    toolName: text,
    success: fc.boolean(),
    result: fc.jsonValue().filter((value) => !Object.is(value, -0)),
  }),
  fc.record({
    ...common,
    type: fc.constant('stream_resync' as const),
    reason: fc.constantFrom('new-run' as const, 'buffer-overrun' as const),
    nextSequence: fc.nat(),
  }),
)
const anyStream = fc
  .tuple(fc.nat(1000), fc.array(anyChunk, { maxLength: 12 }))
  .map(([first, chunks]) =>
    chunks.map((chunk, i): SequencedChunk => ({ ...chunk, sequence: first + i })),
  )

describe('what a client decodes', () => {
  test('is what was said, wherever the bytes were cut', async () => {
    await fc.assert(
      fc.asyncProperty(
        anyStream,
        fc.array(fc.nat(400), { maxLength: 20 }),
        async (chunks, cuts) => {
          const bytes = await bytesOf(chunks)
          const places = [...cuts.map((cut) => cut % (bytes.length + 1)), 0, bytes.length]
          const sorted = places.toSorted((a, b) => a - b)
          const pieces = sorted.slice(1).map((end, i) => bytes.subarray(sorted[i], end))
          const events = decode(pieces)
          const said = chunks.map((chunk) => JSON.parse(JSON.stringify(chunk)) as unknown)
          expect(events.slice(0, -1).map(({ data }) => JSON.parse(data) as unknown)).toEqual(said)
          expect(events.map(({ id }) => id)).toEqual([
            ...chunks.map((c) => `${c.sequence}`),
            undefined,
          ])
          expect(events.map(({ event }) => event)).toEqual([...chunks.map((c) => c.type), 'end'])
        },
      ),
    )
  })

  test('is the same at each single byte boundary', async () => {
    const chunks = [delta(1, 'ä😀\n\r\u2028'), delta(2, '\n\ndata: {}\n\n')]
    const bytes = await bytesOf(chunks)
    const whole = decode([bytes])
    expect(whole).toHaveLength(3)
    for (let cut = 0; cut <= bytes.length; cut++) {
      expect(decode([bytes.subarray(0, cut), bytes.subarray(cut)])).toEqual(whole)
    }
    expect(decode(Array.from(bytes, (_, i) => bytes.subarray(i, i + 1)))).toEqual(whole)
  })

  test('has no gap and no double when it comes back after any event, any number of times', async () => {
    const chunks = Array.from({ length: 9 }, (_, i) => delta(i + 3))
    const readFrom = (from = 0) => list(chunks.filter(({ sequence }) => sequence >= from))
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 4 })), async (breaks) => {
        const seen: string[] = []
        for (const events of [...breaks, Infinity]) {
          const response = createServerSentEventsResponse(() =>
            readFrom(parseLastEventId(seen.at(-1))),
          )
          const got = decode([new Uint8Array(await response.arrayBuffer())])
          seen.push(...got.flatMap(({ id }) => id ?? []).slice(0, events))
        }
        expect(seen).toEqual(chunks.map(({ sequence }) => `${sequence}`))
      }),
    )
  })
})

function failToRead(): AsyncIterable<SequencedChunk> {
  throw new Error('store is gone')
}

describe('the body', () => {
  test('begins at once, then waits for chunks', async () => {
    const source = controlled()
    const retryMs = 1234
    const { next } = open(source, { retryMs })
    expect(source.seen.asked).toBe(0)
    expect(await next()).toBe(`retry: ${retryMs}\n\n`)
    const first = next()
    await source.signal
    source.say(delta(1))
    expect(await first).toMatch(/^id: 1\nevent: text_delta\ndata: \{.*\}\n\n$/)
  })

  test('reads no further than the client does', async () => {
    const source = controlled()
    const { next, clock } = open(source)
    await next()
    const first = next()
    await clock.advance(0)
    source.say(delta(1))
    await first
    await clock.advance(60_000)
    expect(source.seen.asked).toBe(1)
    expect(clock.pendingTimers).toBe(0)
  })

  test('shows signs of life while nothing happens, and none that pile up', async () => {
    const source = controlled()
    const { next, clock } = open(source, { heartbeatMs: 100 })
    await next()
    for (const _ of [1, 2]) {
      const waiting = next()
      await clock.advance(100)
      expect(await waiting).toBe(': still here\n\n')
    }
    await clock.advance(10_000)
    source.say(delta(1))
    expect(await next()).toBe(': still here\n\n')
    expect(await next()).toMatch(/^id: 1\n/)
    expect(clock.pendingTimers).toBe(0)
  })

  test('ends with an event of its own, which is no place to go on from', async () => {
    const source = controlled()
    const { next } = open(source)
    await next()
    const last = next()
    await source.signal
    source.end()
    expect(await last).toBe('event: end\ndata: {}\n\n')
    expect(await next()).toBeUndefined()
    expect((await source.signal).aborted).toBe(true)
  })

  test('of a stream that does not exist is empty', async () => {
    const response = createServerSentEventsResponse(() => Promise.resolve(null))
    expect(await response.text()).toBe(`${BEGIN}event: end\ndata: {}\n\n`)
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
  })

  test('stops reading when the client leaves, in the middle of a wait too', async () => {
    const source = controlled()
    const { next, reader, clock } = open(source)
    await next()
    void next()
    const signal = await source.signal
    await reader.cancel('gone')
    expect([signal.aborted, signal.reason, source.seen.returned]).toEqual([true, 'gone', 1])
    await clock.advance(0)
    expect(clock.pendingTimers).toBe(0)
  })

  test('does not read for a client that left while the stream was being opened', async () => {
    const source = controlled()
    const opening = Promise.withResolvers<ReturnType<typeof source.read>>()
    const reader = createServerSentEvents(() => opening.promise).getReader()
    await reader.read()
    const waiting = reader.read()
    await reader.cancel()
    opening.resolve(source.read(new AbortController().signal))
    expect(await waiting).toEqual({ done: true, value: undefined })
    expect(source.seen.asked).toBe(0)
  })

  test('ends without `end` when the server stops, so that clients come back', async () => {
    const source = controlled()
    const closing = new AbortController()
    const { next, clock } = open(source, { signal: closing.signal })
    await next()
    const waiting = next()
    const signal = await source.signal
    closing.abort()
    expect(await waiting).toBeUndefined()
    expect([signal.aborted, source.seen.returned]).toEqual([true, 1])
    await clock.advance(0)
    expect(clock.pendingTimers).toBe(0)
    const late = createServerSentEventsResponse(source.read, { signal: closing.signal })
    expect(await late.text()).toBe(BEGIN)
  })

  test('tells once that it is over, however that came', async () => {
    const ends: string[] = []
    const closing = new AbortController()
    const body = (name: string, read: () => AsyncIterable<SequencedChunk>): ReadableStream => {
      const onEnd = (): void => void ends.push(name)
      return createServerSentEvents(read, { onEnd, signal: closing.signal })
    }
    await new Response(body('read to its end', () => list([delta(1)]))).text()
    await body('left before it was read', () => list([])).cancel()
    await expect(new Response(body('failed', failToRead)).text()).rejects.toThrow('store is gone')
    const reader = body('stopped by the server', controlled().read as never).getReader()
    await reader.read()
    expect(ends).toEqual(['read to its end', 'left before it was read', 'failed'])
    closing.abort()
    await reader.read()
    expect(ends).toHaveLength(4)
  })

  test('lets go of the signal of the server', async () => {
    const closing = new AbortController()
    const response = createServerSentEventsResponse(() => list([delta(1)]), {
      signal: closing.signal,
    })
    await response.text()
    expect(() => closing.abort()).not.toThrow()
  })

  test('breaks between two events when the stream fails', async () => {
    const failure = new Error('store is gone')
    async function* failing(): AsyncGenerator<SequencedChunk> {
      yield delta(1)
      throw failure
    }
    let given: AbortSignal | undefined
    const closing = new AbortController()
    const body = createServerSentEvents(
      (signal) => {
        given = signal
        return failing()
      },
      { signal: closing.signal },
    )
    const reader = body.getReader()
    await reader.read()
    expect(new TextDecoder().decode((await reader.read()).value)).toMatch(/\n\n$/)
    await expect(reader.read()).rejects.toBe(failure)
    expect(given?.aborted).toBe(true)
    expect(() => closing.abort()).not.toThrow()
  })
})
