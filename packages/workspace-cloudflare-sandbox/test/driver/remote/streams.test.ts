import { expect, it } from 'vitest'
import { sliceStream, watchStream } from '../../../src/driver/remote/streams.ts'

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

it('ends a reader that brings its own memory', async () => {
  const watched = watchStream(new Blob(['ab']).stream())
  const reader = watched.stream.getReader({ mode: 'byob' })
  const read = async () => reader.read(new Uint8Array(4))
  expect([...((await read()).value ?? [])]).toEqual([97, 98])
  expect(await read()).toMatchObject({ done: true, value: new Uint8Array() })
  expect(watched.passedBytes()).toBe(2)
})

it('a slice ends once its source is let go', async () => {
  const released = Promise.withResolvers<undefined>()
  const source = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.enqueue(new Uint8Array(4)),
    cancel: () => released.promise,
  })
  let isOver = false
  const reader = sliceStream(source, 1, 2).getReader()
  expect((await reader.read()).value).toHaveLength(2)
  const end = reader.read().finally(() => (isOver = true))
  for (let turn = 0; turn < 50; turn += 1) await Promise.resolve()
  expect(isOver).toBe(false)
  released.resolve(undefined)
  expect((await end).done).toBe(true)
})

it('tells what a source failed with', async () => {
  const failure = new Error('broken')
  const source = new ReadableStream<Uint8Array>({ pull: (controller) => controller.error(failure) })
  const watched = watchStream(source)
  await expect(new Response(watched.stream).bytes()).rejects.toBe(failure)
  expect(() => watched.throwIfFailed()).toThrow(failure)
})
