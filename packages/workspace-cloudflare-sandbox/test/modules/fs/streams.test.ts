import { FileSystemError } from '@helix-agents/core'
import { expect, it } from 'vitest'
import { DriverError } from '../../../src/driver/driver-error.ts'
import { LimitedSource, mapStreamErrors } from '../../../src/modules/fs/streams.ts'

const streamOf = (...pieces: readonly (string | Error)[]): ReadableStream<Uint8Array> => {
  const left = [...pieces]
  return new ReadableStream(
    {
      pull: (controller) => {
        const piece = left.shift()
        if (piece === undefined) controller.close()
        else if (piece instanceof Error) controller.error(piece)
        else controller.enqueue(Buffer.from(piece))
      },
    },
    { highWaterMark: 0 },
  )
}

const read = (stream: ReadableStream<Uint8Array>, signal?: AbortSignal) =>
  new Response(mapStreamErrors(stream, '/f', signal)).text()

it('a source gives each piece as it came, in memory of its own, up to its limit', async () => {
  const { failure, stream } = new LimitedSource(streamOf('a', '', 'bc'), '/f', 3)
  const pieces: string[] = []
  for await (const piece of stream) pieces.push(Buffer.from(piece).toString())
  expect([pieces, failure]).toEqual([['a', '', 'bc'], undefined])
  const memory = Buffer.from('one')
  const source = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.enqueue(memory),
  })
  const reader = new LimitedSource(source, '/f', 99).stream.getReader()
  const { value } = await reader.read()
  memory.fill(120)
  expect(Buffer.from(value ?? []).toString()).toBe('one')
})

it('a source over its limit, or that fails, keeps why', async () => {
  const limited = new LimitedSource(streamOf('ab', 'cd'), '/f', 3)
  await expect(new Response(limited.stream).text()).rejects.toThrow('the limit is 3 bytes')
  expect(limited.failure).toMatchObject({ code: 'too-large', path: '/f' })
  const torn = new Error('torn')
  const failing = new LimitedSource(streamOf('a', torn), '/f', 3)
  await expect(new Response(failing.stream).text()).rejects.toThrow('torn')
  expect(failing.failure).toBe(torn)
})

it('a stream has errors of the workspace, or those of its reader', async () => {
  expect(await read(streamOf('a', 'b'))).toBe('ab')
  const own = new FileSystemError('denied' as never, '/f')
  for (const [error, expected] of [
    [own, own],
    [new Error('torn'), expect.objectContaining({ name: 'WorkspaceEvictedError' })],
  ] as const) {
    const reader = mapStreamErrors(streamOf('a', error), '/f', undefined).getReader()
    await reader.read()
    await expect(reader.read()).rejects.toEqual(expected)
  }
  const aborted = mapStreamErrors(streamOf('a'), '/f', AbortSignal.abort(new Error('stopped')))
  await expect(aborted.getReader().read()).rejects.toThrow('stopped')
})

/** A source that tells what is done with it; its cancellation takes a turn. */
function observed(pieces: readonly (string | Error)[] = ['a', 'b', 'c'], isStuck = false) {
  const seen: unknown[] = []
  const left = [...pieces]
  const source = new ReadableStream<Uint8Array>(
    {
      pull: (controller) => {
        seen.push('pull')
        const piece = left.shift()
        if (piece instanceof Error) controller.error(piece)
        else if (piece === undefined) controller.close()
        else controller.enqueue(Buffer.from(piece))
      },
      cancel: async (reason) => {
        seen.push(['cancel', reason])
        await turn()
        seen.push('cancelled')
        if (isStuck) throw new Error('stuck')
      },
    },
    { highWaterMark: 0 },
  )
  return { seen, source }
}

const turn = () => new Promise((resolve) => setImmediate(resolve))

it.each([
  ['mapped', (source: ReadableStream<Uint8Array>) => mapStreamErrors(source, '/f', undefined)],
  ['limited', (source: ReadableStream<Uint8Array>) => new LimitedSource(source, '/f', 9).stream],
])('a %s stream pulls what is read, and passes its end on', async (_, wrap) => {
  const { seen, source } = observed(['a', 'b'])
  const reader = wrap(source).getReader()
  await turn()
  expect(seen).toEqual([])
  const { value } = await reader.read()
  expect(Buffer.from(value ?? []).toString()).toBe('a')
  await turn()
  expect(seen).toEqual(['pull'])
  const reason = new Error('enough')
  await reader.cancel(reason)
  expect(seen).toEqual(['pull', ['cancel', reason], 'cancelled'])
  const whole = wrap(observed(['a', 'b']).source)
  expect(await new Response(whole).text()).toBe('ab')
})

it.each([false, true])(
  'a stream that nobody wants any more is cancelled first (which fails: %s), and not read',
  async (isStuck) => {
    const { seen, source } = observed(['a', 'b'], isStuck)
    const stopped = new Error('stopped')
    const abort = new AbortController()
    const reader = mapStreamErrors(source, '/f', abort.signal).getReader()
    await reader.read()
    abort.abort(stopped)
    await expect(reader.read()).rejects.toBe(stopped)
    expect(seen).toEqual(['pull', ['cancel', stopped], 'cancelled'])
  },
)

it('a piece that comes after an abort is not passed on', async () => {
  const abort = new AbortController()
  const stopped = new Error('stopped')
  const source = new ReadableStream<Uint8Array>(
    {
      pull: (controller) => {
        abort.abort(stopped)
        controller.enqueue(Buffer.from('late'))
      },
    },
    { highWaterMark: 0 },
  )
  const reader = mapStreamErrors(source, '/f', abort.signal).getReader()
  await expect(reader.read()).rejects.toBe(stopped)
})

it('a stream that is torn names its path, and one that was given up why', async () => {
  const torn = new Error('torn')
  const denied = new DriverError('denied', 'x', { admitted: 'yes' })
  const { signal } = new AbortController()
  for (const [thrown, expected] of [
    [torn, { code: 'evicted', admitted: 'unknown', cause: { code: 'interrupted' } }],
    [denied, { code: 'permission-denied', path: '/f', cause: denied }],
  ] as const) {
    const reading = mapStreamErrors(streamOf(thrown), '/f', signal).getReader().read()
    await expect(reading).rejects.toMatchObject(expected)
  }
  const abort = new AbortController()
  const source = new ReadableStream<Uint8Array>(
    {
      pull: (controller) => {
        abort.abort(new Error('stopped'))
        controller.error(torn)
      },
    },
    { highWaterMark: 0 },
  )
  const reading = mapStreamErrors(source, '/f', abort.signal).getReader().read()
  await expect(reading).rejects.toThrow('stopped')
})

it.each([false, true])(
  'a source is cancelled before its failure is told, also when that fails (%s)',
  async (isStuck) => {
    const { seen, source } = observed(['a'], isStuck)
    const limited = new LimitedSource(source, '/f', 9)
    const reason = new Error('no place')
    await limited.cancel(reason)
    expect(seen).toEqual([['cancel', reason], 'cancelled'])
    expect(limited.failure).toBeUndefined()
  },
)

it('a source may fill its limit exactly', async () => {
  const limited = new LimitedSource(streamOf('ab', 'c'), '/f', 3)
  expect(await new Response(limited.stream).text()).toBe('abc')
  const over = new LimitedSource(streamOf('ab', 'cd'), '/f', 3)
  await expect(new Response(over.stream).text()).rejects.toThrow('the limit is 3 bytes')
  expect(over.failure).toMatchObject({ code: 'too-large', path: '/f' })
})
