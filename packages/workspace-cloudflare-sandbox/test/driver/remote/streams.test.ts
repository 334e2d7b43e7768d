import { expect, it } from 'vitest'
import { watchStream } from '../../../src/driver/remote/streams.ts'

it('passes on what a source brings, and waits for nothing that is empty', async () => {
  const chunks = ['a', '', '', 'bc', '']
  const source = new ReadableStream<Uint8Array>({
    pull: (controller) => {
      const chunk = chunks.shift()
      if (chunk === undefined) controller.close()
      else controller.enqueue(new TextEncoder().encode(chunk))
    },
  })
  const watched = watchStream(source)
  expect(await new Response(watched.stream).text()).toBe('abc')
  expect(() => watched.throwIfFailed()).not.toThrow()
})

it('tells what a source failed with', async () => {
  const failure = new Error('broken')
  const source = new ReadableStream<Uint8Array>({ pull: (controller) => controller.error(failure) })
  const watched = watchStream(source)
  await expect(new Response(watched.stream).bytes()).rejects.toBe(failure)
  expect(() => watched.throwIfFailed()).toThrow(failure)
})
