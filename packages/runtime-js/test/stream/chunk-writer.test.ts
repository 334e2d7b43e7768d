// The chunks of a run on its stream and on that of its parent; a stream that fails; the chunk that ends it.
import { ManualClock, RecordingLogger } from '@helix-agents/core/testing'
import { describe, expect, test } from 'vitest'
import { ChunkWriter, type ChunkWriterOptions } from '../../src/stream/chunk-writer.ts'
import { endStream, type StreamEnd } from '../../src/stream/end-stream.ts'
import { settle } from '../harness.ts'

const err = new Error('no stream')

function writerOf(more: Partial<ChunkWriterOptions> = {}) {
  const [clock, logger] = [new ManualClock(7), new RecordingLogger()]
  const written: unknown[] = []
  const writer = { write: async (chunk: unknown) => void written.push(chunk) }
  const base = { writer, agentId: 'r', agentType: 'a', clock, logger }
  return { chunks: new ChunkWriter({ ...base, ...more }), written, logger }
}

const text = { type: 'text_delta', agentId: 'r', agentType: 'a', timestamp: 7, delta: 'x' } as const

test('a chunk says whose it is and when it was', () => {
  const { chunks, written } = writerOf()
  chunks.emit('text_delta', { delta: 'x' })
  chunks.send({ ...text, agentId: 'child', timestamp: 3 })
  expect(written).toEqual([text, { ...text, agentId: 'child', timestamp: 3 }])
})

test('that of a sub-agent is on the stream of its parent too, which is waited for as well', async () => {
  const [sent, hold] = [[] as unknown[], Promise.withResolvers<void>()]
  const forward = { send: (chunk: unknown) => void sent.push(chunk), flush: () => hold.promise }
  const { chunks, written } = writerOf({ forward })
  chunks.emit('text_delta', { delta: 'x' })
  expect([sent, written]).toEqual([[text], [text]])
  let isFlushed = false
  const flushed = chunks.flush().then(() => (isFlushed = true))
  await settle()
  expect(isFlushed).toBe(false)
  hold.resolve()
  await flushed
})

test('a flush waits for the last write; without one for nothing', async () => {
  const hold = Promise.withResolvers<void>()
  const { chunks } = writerOf({ writer: { write: () => hold.promise } })
  await chunks.flush()
  chunks.emit('text_delta', { delta: 'x' })
  let isFlushed = false
  const flushed = chunks.flush().then(() => (isFlushed = true))
  await settle()
  expect(isFlushed).toBe(false)
  hold.resolve()
  await flushed
})

test.each([
  ['rejects', () => Promise.reject(err)],
  [
    'throws',
    () => {
      throw err
    },
  ],
])(
  'a stream that %s is logged once, and stops neither the run nor its parent',
  async (_, write) => {
    const sent: unknown[] = []
    const forward = { send: (chunk: unknown) => void sent.push(chunk), flush: async () => {} }
    const { chunks, logger } = writerOf({ writer: { write }, forward })
    for (const delta of ['1', '2', '3']) chunks.emit('text_delta', { delta })
    await chunks.flush()
    expect(sent).toHaveLength(3)
    expect(logger.lines).toEqual([
      { level: 'error', message: 'stream write failed', fields: { err, agent: 'a' } },
    ])
  },
)

const ended = async (end: Partial<StreamEnd>) => {
  const ends: unknown[] = []
  const streamManager = { endRun: async (...given: unknown[]) => void ends.push(given) } as never
  const base = { sessionId: 's', runId: 'r', agentType: 'a', status: 'completed' as const }
  await endStream({ streamManager, clock: new ManualClock(7) }, { ...base, ...end })
  return ends
}

describe('the end of a stream', () => {
  const own = { agentId: 'r', agentType: 'a', timestamp: 7 }
  const error = { code: 'overloaded', message: 'later' }

  test.each<readonly [Partial<StreamEnd>, object | undefined]>([
    [{ output: 'x' }, { ...own, type: 'output', output: 'x' }],
    [{}, { ...own, type: 'output', output: undefined }],
    [
      { status: 'failed', error },
      { ...own, type: 'error', ...error },
    ],
    [{ status: 'failed' }, undefined],
    [{ status: 'interrupted', error }, undefined],
    [{ status: 'waiting' }, undefined],
    [{ status: 'aborted', output: 'x' }, undefined],
  ])('of a run that is %j: %j', async (end, chunk) => {
    expect(await ended(end)).toEqual([['s', 'r', chunk]])
  })

  test('of a session that never ran is none', async () => {
    expect(await ended({ runId: undefined as never })).toEqual([])
  })
})
