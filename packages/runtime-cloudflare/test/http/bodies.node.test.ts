// What is read of a body: of which type, how much, how long, and what it must be.
import { ManualClock } from '@helix-agents/core/testing'
import { describe, expect, test } from 'vitest'
import { RequestError } from '../../src/http/http-error.ts'
import {
  answerSchema,
  branchSchema,
  check,
  messageSchema,
  pageSchema,
  readBody,
  startSchema,
} from '../../src/http/request-body.ts'

const url = 'https://worker.example'
const json = { 'content-type': 'application/json' }
const limits = { maxBytes: 100, timeoutMs: 1000, clock: new ManualClock() }
const bodyOf = (body: BodyInit | null, headers: HeadersInit = json): Request =>
  new Request(url, { method: 'POST', headers, body })
const read = (request: Request, more: object = {}) =>
  readBody(request, startSchema, { ...limits, ...more })

/** A body that comes in these pieces, and then waits. */
function slow(...pieces: readonly Uint8Array[]) {
  const state = { cancelled: false }
  const stream = new ReadableStream<Uint8Array>({
    start: (controller) => {
      for (const piece of pieces) controller.enqueue(piece)
    },
    cancel: () => void (state.cancelled = true),
  })
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Node wants to know how it is sent
  const init = { method: 'POST', headers: json, body: stream, duplex: 'half' } as RequestInit
  return { request: new Request(url, init), state }
}

const sized = (bytes: number) => `{"message":"${'x'.repeat(bytes - '{"message":""}'.length)}"}`

describe('a body', () => {
  test.each([
    'application/json',
    'application/json; charset=utf-8',
    'APPLICATION/JSON',
    'application/json ;x',
  ])('of %s is read', async (type) => {
    const request = bodyOf('{"message":"x"}', { 'content-type': type })
    expect(await read(request)).toEqual({ message: 'x' })
  })

  test.each([
    ['text/plain', '{"message":"x"}'],
    ['application/jsonp', '{"message":"x"}'],
    ['text/plain', ''],
  ])('of %s is refused', async (type, text) => {
    await expect(read(bodyOf(text, { 'content-type': type }))).rejects.toMatchObject({
      status: 415,
      code: 'unsupported-media-type',
      message: 'the body must be sent with content-type: application/json',
    })
  })

  test('without a type is none that is read; an empty one needs none', async () => {
    const untyped = bodyOf(new TextEncoder().encode('{"message":"x"}'), {})
    await expect(read(untyped)).rejects.toMatchObject({ status: 415 })
    const empty = readBody(bodyOf(null, {}), branchSchema, limits)
    expect(await empty).toEqual({})
    expect(await readBody(bodyOf(' \n'), branchSchema, limits)).toEqual({})
    expect(
      await readBody(bodyOf(null, { 'content-type': 'text/plain' }), branchSchema, limits),
    ).toEqual({})
  })

  test('has its size, to the byte, whatever its headers say', async () => {
    expect(await read(bodyOf(sized(100)))).toHaveProperty('message')
    const tooLarge = {
      status: 413,
      code: 'too-large',
      message: 'the body is larger than 100 bytes',
    }
    await expect(read(bodyOf(sized(101)))).rejects.toMatchObject(tooLarge)
    const declared = bodyOf('{}', { ...json, 'content-length': '101' })
    await expect(read(declared)).rejects.toMatchObject(tooLarge)
    const exact = bodyOf('{"message":"x"}', { ...json, 'content-length': '100' })
    expect(await read(exact)).toEqual({ message: 'x' })
    const { request, state } = slow(new Uint8Array(60), new Uint8Array(41))
    await expect(read(request)).rejects.toMatchObject(tooLarge)
    expect(state.cancelled).toBe(true)
  })

  test('has its time, and is let go when that is over', async () => {
    const clock = new ManualClock()
    const { request, state } = slow(new TextEncoder().encode('{'))
    const reading = read(request, { clock }).catch((error: unknown) => error)
    await clock.advance(999)
    expect(state.cancelled).toBe(false)
    await clock.advance(1)
    expect(await reading).toMatchObject({
      status: 408,
      code: 'body-timeout',
      message: 'the body did not end within 1000 ms',
    })
    expect(state.cancelled).toBe(true)
    expect(clock.pendingTimers).toBe(0)
  })

  test.each([
    [bodyOf('{"message"'), 'the body is not JSON'],
    [bodyOf(Uint8Array.of(0x22, 0xff, 0x22)), 'the body is not UTF-8'],
    [bodyOf(Uint8Array.of(0x22, 0xc3)), 'the body is not UTF-8'],
  ])('that is no text, or no JSON, says so', async (request, message) => {
    await expect(read(request)).rejects.toMatchObject({
      status: 400,
      code: 'invalid-json',
      message,
    })
  })

  test('holds its place while it is read, and only then', async () => {
    const events: string[] = []
    const takePlace = () => (events.push('taken'), () => void events.push('left'))
    await read(bodyOf('{"message":"x"}'), { takePlace })
    await read(bodyOf('{'), { takePlace }).catch(() => {})
    expect(events).toEqual(['taken', 'left', 'taken', 'left'])
    await readBody(bodyOf(null), branchSchema, { ...limits, takePlace })
    expect(events).toHaveLength(4)
  })

  test('that does not fit says where', async () => {
    await expect(read(bodyOf('{"message":"","state":7,"more":1}'))).rejects.toMatchObject({
      status: 400,
      code: 'invalid-request',
      message: 'the request is not valid',
      details: {
        issues: [
          { path: 'message', message: expect.any(String) },
          { path: 'state', message: expect.any(String) },
          { path: '', message: expect.stringContaining('more') },
        ],
      },
    })
  })
})

test.each([
  [messageSchema, { message: 'x', delivery: 'steer', messageId: 'x'.repeat(200) }, true],
  [messageSchema, { message: 'x', messageId: 'x'.repeat(201) }, false],
  [messageSchema, { message: 'x', messageId: '' }, false],
  [messageSchema, { message: 'x', delivery: 'now' }, false],
  [answerSchema, { decision: 'approve', input: {}, remember: 'session', reason: 'x' }, true],
  [answerSchema, { decision: 'approve', remember: 'always' }, false],
  [answerSchema, { decision: 'deny', reason: 'x'.repeat(10_000) }, true],
  [answerSchema, { decision: 'deny', reason: 'x'.repeat(10_001) }, false],
  [answerSchema, { output: 7 }, true],
  [answerSchema, { decision: 'output', output: null }, true],
  [answerSchema, {}, false],
  [branchSchema, { sessionId: 'b', checkpointId: 'c', files: 'checkpoint' }, true],
  [branchSchema, { checkpointId: '' }, false],
  [branchSchema, { files: 'now' }, false],
  [pageSchema, { offset: '0', limit: '200' }, true],
  [pageSchema, { limit: '201' }, false],
  [pageSchema, { limit: '0' }, false],
  [pageSchema, { offset: '-1' }, false],
])('%#: %o is accepted: %s', (schema, value, isValid) => {
  const end = (): unknown => {
    try {
      check(schema as typeof branchSchema, value)
      return 'valid'
    } catch (error) {
      return error instanceof RequestError ? error.code : error
    }
  }
  expect(end()).toBe(isValid ? 'valid' : 'invalid-request')
})

test('a page has fifty entries from the first when nobody asks for more', () => {
  expect(check(pageSchema, {})).toEqual({ offset: 0, limit: 50 })
})
