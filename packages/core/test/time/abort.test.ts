import { expect, test } from 'vitest'
import { settled, untilAborted } from '../../src/time/abort.ts'

test('settles as the promise does and lets go of the signal', async () => {
  const { signal } = new AbortController()
  const added: string[] = []
  signal.addEventListener = (event: string) => void added.push(`add ${event}`)
  signal.removeEventListener = (event: string) => void added.push(`remove ${event}`)
  expect(await untilAborted(Promise.resolve(1), signal)).toBe(1)
  await expect(untilAborted(Promise.reject(new Error('own')), signal)).rejects.toThrow('own')
  expect(added).toEqual(['add abort', 'remove abort', 'add abort', 'remove abort'])
})

test('an abort ends the wait with its reason, even one that came before', async () => {
  const abort = new AbortController()
  const waiting = untilAborted(new Promise(() => {}), abort.signal)
  abort.abort('enough')
  await expect(waiting).rejects.toBe('enough')
  await expect(untilAborted(Promise.resolve(1), abort.signal)).rejects.toBe('enough')
})

test('without a signal the promise itself comes back', () => {
  const promise = Promise.resolve()
  expect(untilAborted(promise)).toBe(promise)
})

test('settled waits for success and failure alike', async () => {
  await settled(Promise.resolve())
  await settled(Promise.reject(new Error('handled elsewhere')))
  await expect(settled(undefined)).resolves.toBeUndefined()
})
