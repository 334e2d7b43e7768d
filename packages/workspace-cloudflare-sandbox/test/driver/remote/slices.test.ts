import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { brokenContent, DriverError } from '../../../src/driver/driver-error.ts'
import { bytesStream, sliceStream, watchStream } from '../../../src/driver/remote/streams.ts'

/** A stream of these chunks, and what it was told when nobody wanted more. */
function sourceOf(chunks: readonly Uint8Array[]) {
  const left = [...chunks]
  const cancelled: unknown[] = []
  const stream = new ReadableStream<Uint8Array>({
    pull: (controller) => {
      const chunk = left.shift()
      if (chunk === undefined) controller.close()
      else controller.enqueue(chunk)
    },
    cancel: (reason) => void cancelled.push(reason),
  })
  return { cancelled, stream }
}

const numbers = (count: number): Uint8Array => Uint8Array.from({ length: count }, (_, n) => n)

describe('a slice of a stream', () => {
  it('has the bytes between its ends, however they come', async () => {
    const chunk = fc.uint8Array({ maxLength: 6 })
    await fc.assert(
      fc.asyncProperty(
        fc.array(chunk, { maxLength: 6 }),
        fc.nat(20),
        fc.nat(20),
        async (chunks, offset, length) => {
          const whole = Buffer.concat(chunks)
          fc.pre(offset + length <= whole.length)
          const { stream } = sourceOf(chunks)
          const found = await new Response(sliceStream(stream, offset, length)).bytes()
          expect(Buffer.compare(found, whole.subarray(offset, offset + length))).toBe(0)
        },
      ),
    )
  })

  it('lets go of what lies behind it', async () => {
    const { cancelled, stream } = sourceOf([numbers(4), numbers(4), numbers(4)])
    await new Response(sliceStream(stream, 1, 4)).bytes()
    expect(cancelled).toEqual([undefined])
    const other = sourceOf([numbers(4), numbers(4)])
    await sliceStream(other.stream, 1, 4).cancel('enough')
    expect(other.cancelled).toEqual(['enough'])
  })

  it('of what ends too early has failed', async () => {
    const { stream } = sourceOf([numbers(4)])
    const message = 'the file changed while it was read'
    const cut = { code: 'interrupted', admitted: 'yes', message }
    await expect(new Response(sliceStream(stream, 1, 4)).bytes()).rejects.toMatchObject(cut)
  })
})

it('a stream of bytes is a copy of them', async () => {
  const bytes = numbers(3)
  const stream = bytesStream(bytes)
  bytes.fill(9)
  expect(await new Response(stream).bytes()).toEqual(numbers(3))
})

it('a watched stream counts what it has passed on, and passes a cancellation on', async () => {
  const { cancelled, stream } = sourceOf([numbers(4), numbers(2), numbers(2)])
  const watched = watchStream(stream)
  expect(watched.passedBytes()).toBe(0)
  const reader = watched.stream.getReader()
  await reader.read()
  expect(watched.passedBytes()).toBe(4)
  await reader.cancel('enough')
  expect(cancelled).toEqual(['enough'])
})

it('content that was cut off is an error of the driver, without what was thrown', () => {
  const own = new DriverError('denied', 'no', { admitted: 'yes' })
  expect(brokenContent(own)).toBe(own)
  const broken = brokenContent(new Error('secret'))
  const message = 'the content did not arrive as a whole'
  expect(broken).toMatchObject({ code: 'interrupted', admitted: 'unknown', message })
  expect(broken.cause).toBeUndefined()
})
