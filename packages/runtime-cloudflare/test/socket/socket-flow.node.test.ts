// How much waits for a client that does not read, and what it gets when it does.
import type { SequencedChunk } from '@helix-agents/core/runtime'
import { RecordingLogger } from '@helix-agents/core/testing'
import { describe, expect, test } from 'vitest'
import { isReading, noteAnswer, send } from '../../src/socket/socket-flow.ts'
import { SocketPumps } from '../../src/socket/socket-pumps.ts'
import { noteState, stateOf } from '../../src/socket/socket-state.ts'

const K = 1024

/** A socket with what was sent over it. */
function socketOf(state: unknown = { caller: {}, hasEnded: false }, id = 'one') {
  const sent: string[] = []
  const closed: unknown[] = []
  const socket = {
    id,
    state,
    setState: (next: unknown) => void (socket.state = next),
    send: (text: string) => void sent.push(text),
    close: (...given: unknown[]) => void closed.push(given),
  }
  return { socket: socket as never as Parameters<typeof send>[0], sent, closed }
}

const asks = (sent: readonly string[]): readonly string[] =>
  sent.filter((text) => text.startsWith('{"type":"ack"'))
const idOf = (text: string): string => (JSON.parse(text) as { id: string }).id
const one = () => 1

describe('a client', () => {
  test.each([
    [1, 256 * K],
    [0, 256 * K],
    [8, 256 * K],
    [16, 128 * K],
    [128, 16 * K],
    [1000, 16 * K],
  ])('of %d is asked after so many characters: %d', (sockets, after) => {
    const { socket, sent } = socketOf()
    send(socket, 'x'.repeat(after - 1), () => sockets)
    expect([asks(sent), stateOf(socket).sent]).toEqual([[], after - 1])
    send(socket, 'x', () => sockets)
    expect(sent).toHaveLength(3)
    expect(asks(sent)).toHaveLength(1)
    expect(stateOf(socket)).toMatchObject({ sent: 0, unanswered: [idOf(sent[2]!)] })
  })

  test('is not counted among the others before it may be asked', () => {
    let counted = 0
    const { socket } = socketOf()
    send(socket, 'x'.repeat(16 * K - 1), () => (counted += 1))
    expect(counted).toBe(0)
    send(socket, 'x', () => (counted += 1))
    expect(counted).toBe(1)
  })

  test('that has two questions open is not reading, until it answers', () => {
    const { socket, sent } = socketOf()
    expect(isReading(socket)).toBe(true)
    send(socket, 'x'.repeat(256 * K), one)
    expect(isReading(socket)).toBe(true)
    send(socket, 'x'.repeat(256 * K), one)
    expect(isReading(socket)).toBe(false)
    const [first, second] = asks(sent).map(idOf) as [string, string]
    expect(noteAnswer(socket, 'other')).toBe(false)
    expect(isReading(socket)).toBe(false)
    expect(noteAnswer(socket, first)).toBe(true)
    expect(stateOf(socket).unanswered).toEqual([second])
    expect(noteAnswer(socket, first)).toBe(false)
    expect(noteAnswer(socket, second)).toBe(true)
    expect(stateOf(socket).unanswered).toEqual([])
  })

  test('that answers the last question has read all before it', () => {
    const { socket, sent } = socketOf()
    for (let time = 0; time < 2; time += 1) send(socket, 'x'.repeat(256 * K), one)
    expect(noteAnswer(socket, idOf(asks(sent)[1]!))).toBe(true)
    expect(stateOf(socket).unanswered).toEqual([])
  })
})

test.each<readonly [unknown, boolean]>([
  [{ caller: { userId: 'u' }, hasEnded: false, next: 3 }, true],
  [{ caller: { name: 'u' }, hasEnded: false }, false],
  [{ caller: {} }, false],
  [{ caller: {}, hasEnded: 'no' }, false],
  [{ hasEnded: false }, false],
  [null, false],
  ['x', false],
])('the state %o is one of this release: %s', (state, is) => {
  const { socket } = socketOf(state)
  expect(stateOf(socket)).toEqual(is ? state : { caller: {}, hasEnded: true })
  noteState(socket, { next: 4 })
  expect(socket.state).toEqual({
    ...(is ? (state as object) : { caller: {}, hasEnded: true }),
    next: 4,
  })
})

function setup(chunks: (from: unknown) => AsyncIterable<SequencedChunk> | null) {
  const logger = new RecordingLogger()
  const reads: unknown[] = []
  const made = socketOf()
  const state = { mayRead: true }
  const pumps = new SocketPumps({
    streamManager: {
      read: async (id: string, options: object) => (reads.push([id, options]), chunks(options)),
    } as never,
    sessionId: () => 's',
    sockets: () => [made.socket],
    countSockets: one,
    mayRead: async () => state.mayRead,
    logger,
  })
  return { ...made, pumps, logger, reads, state }
}

const chunk = (sequence: number, delta = 'x') =>
  ({ sequence, type: 'text_delta', delta, agentId: 'r', agentType: 'a', timestamp: 1 }) as const
const rest = async () => {
  for (let turn = 0; turn < 10; turn += 1) await new Promise((resolve) => setImmediate(resolve))
}

describe('a stream', () => {
  test('is sent from where the client is, and its end once', async () => {
    const { pumps, socket, sent, reads } = setup(async function* () {
      yield chunk(3)
      yield chunk(4)
    })
    noteState(socket, { next: 3 })
    pumps.startAll()
    await rest()
    expect(sent.map((text) => JSON.parse(text) as object)).toEqual([
      expect.objectContaining({ sequence: 3, type: 'text_delta', delta: 'x' }),
      expect.objectContaining({ sequence: 4 }),
      { type: 'end' },
    ])
    expect(reads).toEqual([['s', { fromSequence: 3, signal: expect.any(AbortSignal) }]])
    expect(stateOf(socket)).toMatchObject({ next: 5, hasEnded: true })
    const again = setup(async function* () {})
    noteState(again.socket, { hasEnded: true })
    again.pumps.start(again.socket)
    await rest()
    expect([again.sent, again.reads]).toEqual([[], [['s', { signal: expect.any(AbortSignal) }]]])
  })

  test('that is not there, or not for this client, sends nothing', async () => {
    const none = setup(() => null)
    none.pumps.start(none.socket)
    await rest()
    expect(none.sent).toEqual([])
    const other = setup(async function* () {
      yield chunk(0)
    })
    other.state.mayRead = false
    other.pumps.start(other.socket)
    await rest()
    expect([other.sent, other.reads]).toEqual([[], []])
  })

  test('stops at a client that does not read, and asks for nothing then', async () => {
    const { pumps, socket, sent, reads } = setup(async function* () {
      for (let sequence = 0; sequence < 5; sequence += 1) yield chunk(sequence, 'x'.repeat(256 * K))
    })
    pumps.start(socket)
    await rest()
    expect(sent).toHaveLength(4)
    expect(stateOf(socket).next).toBe(2)
    pumps.start(socket)
    await rest()
    expect([sent.length, reads.length]).toEqual([4, 1])
  })

  test('is looked at again when a run has begun meanwhile, by one pump', async () => {
    const gates: PromiseWithResolvers<void>[] = []
    const { pumps, socket, reads } = setup(async function* () {
      const gate = Promise.withResolvers<void>()
      gates.push(gate)
      await gate.promise
      yield* []
    })
    pumps.start(socket)
    await rest()
    pumps.start(socket)
    pumps.start(socket)
    await rest()
    expect(reads).toHaveLength(1)
    gates[0]!.resolve()
    await rest()
    expect(reads).toHaveLength(2)
    gates[1]!.resolve()
    await rest()
    expect(reads).toHaveLength(2)
    pumps.start(socket)
    await rest()
    expect(reads).toHaveLength(3)
  })

  test('that was stopped has no end, and is not looked at again', async () => {
    const gate = Promise.withResolvers<void>()
    const { pumps, socket, sent, reads } = setup(async function* () {
      await gate.promise
      yield* []
    })
    pumps.start(socket)
    await rest()
    pumps.start(socket)
    pumps.stop(socket)
    gate.resolve()
    await rest()
    expect([sent, reads.length]).toEqual([[], 1])
  })

  test('that fails closes its socket, and is logged with its session', async () => {
    const err = new Error('the stream is damaged')
    const { pumps, socket, closed, logger } = setup(() => {
      throw err
    })
    pumps.start(socket)
    await rest()
    expect(closed).toEqual([[1011, 'the stream failed']])
    expect(logger.lines).toEqual([
      { level: 'warn', message: 'WebSocket failed', fields: { err, sessionId: 's' } },
    ])
    pumps.stop(socket)
  })
})
