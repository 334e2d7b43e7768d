import { FileSystemError } from '@helix-agents/core'
import { expect, it } from 'vitest'
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
