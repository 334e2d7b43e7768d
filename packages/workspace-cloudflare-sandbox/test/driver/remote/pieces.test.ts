import fc from 'fast-check'
import { expect, it } from 'vitest'
import { pieces } from '../../../src/driver/remote/pieces.ts'

function streamOf(chunks: readonly Uint8Array[]): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start: (controller) => {
      for (const chunk of chunks) controller.enqueue(chunk)
      controller.close()
    },
  })
}

async function collect(source: AsyncIterable<Uint8Array>): Promise<Uint8Array[]> {
  const found: Uint8Array[] = []
  for await (const piece of source) found.push(Uint8Array.from(piece))
  return found
}

it('are the content, all but the last of them whole', async () => {
  const chunk = fc.uint8Array({ maxLength: 20 })
  await fc.assert(
    fc.asyncProperty(
      fc.array(chunk, { maxLength: 8 }),
      fc.integer({ min: 1, max: 30 }),
      async (chunks, size) => {
        const content = Buffer.concat(chunks)
        for (const source of [new Uint8Array(content), streamOf(chunks)]) {
          const found = await collect(pieces(source, size))
          expect(Buffer.concat(found).equals(content)).toBe(true)
          expect(found).toHaveLength(Math.max(1, Math.ceil(content.length / size)))
          for (const piece of found.slice(0, -1)) expect(piece).toHaveLength(size)
        }
      },
    ),
  )
})

it('end with what the source failed with', async () => {
  const failure = new Error('broken')
  const source = new ReadableStream<Uint8Array>({ pull: (controller) => controller.error(failure) })
  await expect(collect(pieces(source, 4))).rejects.toBe(failure)
})

it('come as soon as they are whole', async () => {
  let reads = 0
  const source = new ReadableStream<Uint8Array>(
    {
      pull: (controller) => {
        reads += 1
        controller.enqueue(new Uint8Array(4))
      },
    },
    { highWaterMark: 0 },
  )
  const all = pieces(source, 4)
  expect((await all.next()).value).toHaveLength(4)
  expect(reads).toBe(1)
})

it('end once the source is let go', async () => {
  const released = Promise.withResolvers<undefined>()
  const source = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.enqueue(new Uint8Array(4)),
    cancel: () => released.promise,
  })
  const all = pieces(source, 4)
  await all.next()
  let isOver = false
  const end = all.return().finally(() => (isOver = true))
  for (let turn = 0; turn < 50; turn += 1) await Promise.resolve()
  expect(isOver).toBe(false)
  released.resolve(undefined)
  await end
})

it('let go of the source when nobody wants more', async () => {
  let reason: unknown = 'held'
  const source = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.enqueue(new Uint8Array(4)),
    cancel: (given) => void (reason = given),
  })
  for await (const piece of pieces(source, 4)) {
    expect(piece).toHaveLength(4)
    break
  }
  expect(reason).toBeUndefined()
})
