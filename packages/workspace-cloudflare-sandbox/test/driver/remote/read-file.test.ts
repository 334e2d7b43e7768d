// Which calls a read takes, and what is made of each answer.
import { describe, expect, it } from 'vitest'
import type { ContainerLink } from '../../../src/driver/remote/container-link.ts'
import { readBytes, readMany, readStream } from '../../../src/driver/remote/read-file.ts'
import type { ScriptCall } from '../../../src/driver/remote/script-runner.ts'
import { linkTo, said } from './link-to.ts'

const path = '/workspace/f'
const REPEATABLE = { deadlineMs: 60_000, isRepeatable: true }
const encode = (text: string): string => Buffer.from(text).toString('base64')
const { signal } = new AbortController()
const text = (bytes: Uint8Array | undefined): string | undefined =>
  bytes && Buffer.from(bytes).toString()

/** A container that gives answers in turn, and a stream of a content by any path. */
function container(answers: readonly (readonly [line: string, payload?: string])[], content = '') {
  const left = [...answers]
  const parts = linkTo((_, nonce) => {
    const [line, payload] = left.shift() ?? ['fail system']
    return said(nonce, line, payload)
  })
  const fetched: (readonly [path: string, call: ScriptCall])[] = []
  const cancelled: string[] = []
  const fetch = async (at: string, call: ScriptCall): Promise<ReadableStream<Uint8Array>> => {
    fetched.push([at, call])
    return new ReadableStream<Uint8Array>(
      {
        pull: (controller) => {
          controller.enqueue(Buffer.from(content))
          controller.close()
        },
        cancel: () => void cancelled.push(at),
      },
      { highWaterMark: 0 },
    )
  }
  const runner = { ...parts.link.runner, fetch }
  const link = Object.assign(Object.create(parts.link) as ContainerLink, { runner })
  const asked = (): readonly (string | undefined)[] =>
    parts.ran.map(({ script }) => script.split('\n').findLast((one) => /^(?:path|left)=/.test(one)))
  return { ...parts, link, asked, fetched, cancelled }
}

const named = (length: number): string => `/${'x'.repeat(length - 1)}`

const wordsOf = async (...lengths: readonly number[]): Promise<number | undefined> => {
  const { asked, link } = container([['ok', '']])
  await readMany(link, lengths.map(named), { maxBytes: 1 })
  return asked()[0]?.split(' ').length
}

describe('a file', () => {
  it('that is text comes as it is, in one call', async () => {
    const { asked, link, ran } = container([['plain 6', 'häuß']])
    expect(text(await readBytes(link, path, { maxBytes: 99, signal }))).toBe('häuß')
    expect(asked()).toEqual([`path=${path} offset=0 length= most=99 inline=1048576 plain=99`])
    expect(ran[0]?.call).toEqual({ ...REPEATABLE, signal })
  })
  it('that is no text is asked for again as bytes', async () => {
    const { asked, link } = container([
      ['plain 3', 'a\uFFFD'],
      ['base64 2', encode('ab')],
    ])
    expect(text(await readBytes(link, path, {}))).toBe('ab')
    expect(asked()[1]).toBe(`path=${path} offset=0 length= most= inline=1048576 plain=`)
  })
  it('a part of it comes as bytes', async () => {
    const { asked, link } = container([['base64 2', encode('ab')]])
    expect(text(await readBytes(link, path, { offset: 1, length: 2 }))).toBe('ab')
    expect(asked()).toEqual([`path=${path} offset=1 length=2 most= inline=1048576 plain=`])
  })
  it.each([
    ['plain 5', 'four'],
    ['plain 3', 'four'],
    ['base64 5', encode('four')],
    ['base64 3', encode('four')],
  ])('of which %s bytes were promised and others came has changed', async (line, payload) => {
    const { link } = container([[line, payload]])
    await expect(readBytes(link, path, {})).rejects.toMatchObject({
      code: 'interrupted',
      admitted: 'yes',
      message: 'the file changed while it was read',
    })
  })
})

describe('a large file', () => {
  const size = 1024 * 1024
  const large = ['large 5', encode('/workspace/real')] as const
  it('is fetched from where links lead to', async () => {
    const { fetched, link } = container([large], 'hello')
    expect(text(await readBytes(link, path, { signal }))).toBe('hello')
    expect(fetched).toEqual([['/workspace/real', { ...REPEATABLE, signal }]])
    expect(link.largeFiles.has(path)).toBe(false)
  })
  it('is remembered, and fetched at once the next time', async () => {
    const line = `large ${size}`
    const content = 'x'.repeat(size)
    const { cancelled, fetched, link } = container(
      [
        [line, encode(path)],
        [line, encode(path)],
        [line, encode('/workspace/moved')],
      ],
      content,
    )
    for (const calls of [1, 2]) {
      expect((await readBytes(link, path, {})).length).toBe(size)
      expect([fetched.length, link.largeFiles.has(path)]).toEqual([calls, true])
    }
    expect((await readBytes(link, path, {})).length).toBe(size)
    expect([fetched.map(([at]) => at).slice(2), cancelled]).toEqual([
      [path, '/workspace/moved'],
      [path],
    ])
  })
  it('that is small by now is not fetched to its end', async () => {
    const { cancelled, fetched, link } = container([['plain 2', 'ab']])
    link.largeFiles.record(path, size)
    expect(text(await readBytes(link, path, {}))).toBe('ab')
    expect([fetched.length, cancelled]).toEqual([1, [path]])
  })
  it('that may not be read is not fetched to its end', async () => {
    const { cancelled, link } = container([['fail denied']])
    link.largeFiles.record(path, size)
    await expect(readBytes(link, path, {})).rejects.toMatchObject({ code: 'denied' })
    expect(cancelled).toEqual([path])
  })
  it.each([
    [{ offset: 1 }, 'ello'],
    [{ offset: 1, length: 2 }, 'el'],
    [{ length: 2 }, 'he'],
    [{ length: 9 }, 'hello'],
    [{ offset: 7 }, ''],
  ])('gives the part of %j', async (range, expected) => {
    const { link } = container([large], 'hello')
    expect(text(await readBytes(link, path, range))).toBe(expected)
  })
  it.each(['hell', 'hello!'])('of which %s came has changed', async (content) => {
    const { link } = container([large], content)
    await expect(readBytes(link, path, {})).rejects.toMatchObject({ code: 'interrupted' })
  })
})

it('a read ends once what it does not need is let go', async () => {
  const { link } = container([['plain 2', 'ab']])
  const released = Promise.withResolvers<undefined>()
  const source = new ReadableStream<Uint8Array>({ cancel: () => released.promise })
  Object.assign(link.runner, { fetch: async () => source })
  link.largeFiles.record(path, 1024 * 1024)
  let isOver = false
  const read = readBytes(link, path, {}).finally(() => (isOver = true))
  for (let turn = 0; turn < 100; turn += 1) await Promise.resolve()
  expect(isOver).toBe(false)
  released.resolve(undefined)
  expect(text(await read)).toBe('ab')
})

it('a large file whose early fetch failed is fetched again', async () => {
  const { link } = container([['large 2', encode(path)]])
  const errors = [new Error('lost')]
  const calls: unknown[] = []
  const fetch = async (_: string, call: unknown): Promise<ReadableStream> => {
    calls.push(call)
    const error = errors.shift()
    if (error !== undefined) throw error
    return new Blob(['ab']).stream()
  }
  Object.assign(link.runner, { fetch })
  link.largeFiles.record(path, 1024 * 1024)
  expect(text(await readBytes(link, path, { signal }))).toBe('ab')
  expect(calls).toEqual([
    { ...REPEATABLE, signal },
    { ...REPEATABLE, signal },
  ])
})

it('a large file that breaks off is an error of the driver', async () => {
  const { link } = container([['large 2', encode(path)]])
  const source = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.error(new Error('secret')),
  })
  Object.assign(link.runner, { fetch: async () => source })
  const broken = { code: 'interrupted', admitted: 'unknown', cause: undefined }
  await expect(readBytes(link, path, {})).rejects.toMatchObject(broken)
})

describe('a stream', () => {
  it('of a small file is of what came inside the answer', async () => {
    const { asked, fetched, link } = container([['plain 2', 'ab']])
    expect(await new Response(await readStream(link, path, {})).text()).toBe('ab')
    expect(asked()).toEqual([`path=${path} offset=0 length= most= inline=262144 plain=16384`])
    expect(fetched).toEqual([])
  })
  it('of a large one is fetched', async () => {
    const { link } = container([['large 5', encode(path)]], 'hello')
    expect(await new Response(await readStream(link, path, { offset: 3 })).text()).toBe('lo')
  })
})

describe('several files', () => {
  const MEBIBYTE = 1024 * 1024
  it('come in one answer, in the order asked for', async () => {
    const { asked, link, ran } = container([['ok', `=3\nä\nb\n-\n${encode('\0')}\n`]])
    const paths = ['/workspace/a', '/workspace/b', '/workspace/c']
    const found = await readMany(link, paths, { maxBytes: 99, signal })
    expect(found.map(({ path: at, bytes }) => [at, text(bytes)])).toEqual([
      ['/workspace/a', 'ä\nb'],
      ['/workspace/b', undefined],
      ['/workspace/c', '\0'],
    ])
    expect(asked()).toEqual([`left=99 paths=(${paths.join(' ')})`])
    expect(ran[0]?.call).toEqual({ ...REPEATABLE, signal })
  })
  it('may be empty, the first one too', async () => {
    const { link } = container([['ok', '\n=0\n\n=1\nx\n\n']])
    const found = await readMany(link, ['/a', '/b', '/c', '/d'], { maxBytes: 99 })
    expect(found.map(({ bytes }) => text(bytes))).toEqual(['', '', 'x', ''])
  })
  it('are eight mebibytes together at most, and end where the answer ends', async () => {
    const { asked, link, ran } = container([['ok', '=1\nx\n']])
    const found = await readMany(link, ['/a', '/b'], { maxBytes: 9 * MEBIBYTE })
    expect(found.map(({ path: at }) => at)).toEqual(['/a'])
    expect([asked(), ran[0]?.call]).toEqual([[`left=${8 * MEBIBYTE} paths=(/a /b)`], REPEATABLE])
    expect(await readMany(link, [], { maxBytes: 1 })).toEqual([])
    expect(ran).toHaveLength(1)
  })
  it('are asked for as far as their names fit, one at least', async () => {
    // Each name may be four times as long when it is quoted, and has three characters around it.
    expect(await wordsOf(7499, 7498)).toBe(3)
    expect(await wordsOf(5000, 5000, 4000, 997)).toBe(5)
    expect(await wordsOf(5000, 5000, 4000, 998)).toBe(4)
    expect(await wordsOf(7499, 7500)).toBe(2)
    expect(await wordsOf(20_000, 1)).toBe(2)
  })
})
