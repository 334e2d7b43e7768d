// What each operation on files asks of a container, and what it makes of the answer.
import { describe, expect, it, vi } from 'vitest'
import { ScriptFiles } from '../../../src/driver/remote/script-files.ts'
import { linkTo, said } from './link-to.ts'

const REPEATABLE = { deadlineMs: 60_000, isRepeatable: true }
const ONCE = { deadlineMs: 60_000, isRepeatable: false }
const TRANSFER = { deadlineMs: 600_000, isRepeatable: false }
const ENTRY = 'ok 81a4 3 1.5 7 1.5'
const encode = (text: string): string => Buffer.from(text).toString('base64')
const { signal } = new AbortController()

/** Files of a container that gives one answer. @returns also the last line that assigns. */
function files(line: string, payload = '') {
  const parts = linkTo((_, nonce) => said(nonce, line, payload))
  const asked = (): readonly (string | undefined)[] =>
    parts.ran.map(({ script }) =>
      script.split('\n').findLast((one) => /^(?:path|from|left)=/.test(one)),
    )
  const calls = (): readonly unknown[] => parts.ran.map(({ call }) => call)
  return { ...parts, asked, calls, files: new ScriptFiles(parts.link) }
}

const names = (...all: readonly string[]): string => encode(all.map((name) => `${name}\0`).join(''))

it('a state is asked for, and says whether the file is large', async () => {
  for (const [size, isLarge] of [
    [1024 * 1024, true],
    [1024 * 1024 - 1, false],
  ] as const) {
    const { asked, calls, files: on, link } = files(`ok 81a4 ${size} 1.5 7 2.5`)
    expect(await on.stat('/workspace/f', signal)).toEqual({
      path: '/workspace/f',
      type: 'file',
      sizeBytes: size,
      modifiedAtMs: 1500,
      version: `7-${size}-1.5-2.5`,
    })
    expect([asked(), calls()]).toEqual([['path=/workspace/f'], [{ ...REPEATABLE, signal }]])
    expect(link.largeFiles.has('/workspace/f')).toBe(isLarge)
  }
})

it('a write notes how large the file is now', async () => {
  const { files: on, link } = files(ENTRY)
  link.largeFiles.record('/workspace/f', 2 * 1024 * 1024)
  await on.write('/workspace/f', new Uint8Array(3))
  expect(link.largeFiles.has('/workspace/f')).toBe(false)
})

describe('a listing', () => {
  const two = encode('f 3 1.50 7 1.50 a b\0d 0 1.50 8 1.50 d\0')
  it('has an entry for each name', async () => {
    const { asked, calls, files: on } = files('ok', two)
    const entries = await on.list('/workspace', { recursive: true, skip: '.h', signal })
    expect(entries.map(({ path, type, sizeBytes }) => [path, type, sizeBytes])).toEqual([
      ['a b', 'file', 3],
      ['d', 'directory', 0],
    ])
    expect(asked()).toEqual(['path=/workspace recursive=1 most=100001 skip=.h'])
    expect(calls()).toEqual([{ ...REPEATABLE, signal }])
  })
  it('is no longer than allowed', async () => {
    const { asked, files: on } = files('ok', two)
    expect(await on.list('/workspace', { maxEntries: 2 })).toHaveLength(2)
    await expect(on.list('/workspace', { maxEntries: 1 })).rejects.toMatchObject({
      code: 'too-large',
      admitted: 'yes',
      message: 'the directory has more than 1 entries',
    })
    expect(asked()[1]).toBe('path=/workspace recursive= most=2 skip=')
  })
})

it('directories are made, and paths removed, once', async () => {
  const { asked, calls, files: on } = files('ok')
  await on.makeDirectory('/workspace/d')
  await on.makeDirectory('/workspace/d', { recursive: true })
  await on.remove('/workspace/d')
  await on.remove('/workspace/d', { recursive: true })
  expect(asked()).toEqual(
    ['', '1', '', '1'].map((recursive) => `path=/workspace/d recursive=${recursive}`),
  )
  expect(calls()).toEqual([ONCE, ONCE, ONCE, ONCE])
})

it('a copy or a move has its time, its limits, and the state of its target', async () => {
  const { asked, calls, files: on } = files(ENTRY)
  const options = { overwrite: true, below: { depth: 4, bytes: 5 } }
  const target = { path: '/workspace/b', type: 'file', sizeBytes: 3 }
  expect(await on.copy('/workspace/a', '/workspace/b', options)).toMatchObject(target)
  expect(await on.move('/workspace/a', '/workspace/b')).toMatchObject(target)
  expect(asked()).toEqual([
    'from=/workspace/a to=/workspace/b overwrite=1 depth=4 bytes=5',
    'from=/workspace/a to=/workspace/b overwrite= depth= bytes=',
  ])
  expect(calls()).toEqual([TRANSFER, TRANSFER])
})

it('a real path is one of the container', async () => {
  const below = files('ok', encode('a b/c'))
  const options = { followLast: false }
  expect(await below.files.realPath('/workspace/l', options)).toBe('/workspace/a b/c')
  expect([below.asked(), below.calls()]).toEqual([['path=/workspace/l last='], [REPEATABLE]])
  expect(await files('ok', '').files.realPath('/workspace', options)).toBe('/workspace')
})

it('without links, every script rejects them', async () => {
  const { files: on, ran } = files(ENTRY)
  const strict = on.withoutLinks()
  await on.stat('/workspace/f')
  await strict.stat('/workspace/f')
  await strict.withoutLinks().stat('/workspace/f')
  expect(ran.map(({ script }) => script.split('\nrefuse=1\n').length)).toEqual([1, 2, 2])
})

describe('an answer with many names', () => {
  const many = Array.from({ length: 20_000 }, (_, n) => `./${n}`)
  const listed = encode(many.map((name) => `f 3 1.50 7 1.50 ${name}\0`).join(''))
  const query = { literal: 'x', ignoreCase: false, maxFileBytes: 9, maxFiles: 20_000 }
  const stopped = AbortSignal.abort(new Error('stopped'))
  it('is read whole', async () => {
    expect(await files('ok', listed).files.list('/workspace')).toHaveLength(20_000)
    const { files: on } = files('ok .', `${names(...many)}\n${names(...many)}`)
    const { complete, paths, tooLarge } = await on.search('/workspace', query)
    expect([complete, paths.length, tooLarge.length]).toEqual([true, 20_000, 20_000])
    expect([paths.at(-1), tooLarge.at(-1)]).toEqual(['19999', '19999'])
  })
  it('is read no further than wanted', async () => {
    // So that it gives way after little work, however quick the machine is.
    let now = 0
    vi.spyOn(performance, 'now').mockImplementation(() => (now += 100))
    const listing = files('ok', listed).files.list('/workspace', { signal: stopped })
    await expect(listing).rejects.toThrow('stopped')
    for (const payload of [`${names(...many)}\n`, `\n${names(...many)}`]) {
      const found = files('ok .', payload).files.search('/workspace', { ...query, signal: stopped })
      await expect(found).rejects.toThrow('stopped')
    }
  })
})

describe('a search', () => {
  const query = { literal: 'x', ignoreCase: false, maxFileBytes: 9, maxFiles: 2 }
  it('gives relative paths, and those of files that are too large', async () => {
    const { asked, calls, files: on } = files('ok .', `${names('./a', 'b/./c')}\n${names('./l')}`)
    expect(await on.search('/workspace', { ...query, skip: '.h', signal })).toEqual({
      paths: ['a', 'b/./c'],
      tooLarge: ['l'],
      complete: true,
    })
    expect(asked()).toEqual(['path=/workspace literal=x flags=-laFZs most=9 count=3 skip=.h'])
    expect(calls()).toEqual([{ ...REPEATABLE, signal }])
  })
  it('of one file gives no name', async () => {
    const { files: on } = files('ok f', `${names('/workspace/f')}\n`)
    expect(await on.search('/workspace/f', query)).toMatchObject({ paths: [''], tooLarge: [] })
    const torn = files('ok .', names('./a'))
    const found = { paths: ['a'], tooLarge: [], complete: true }
    expect(await torn.files.search('/workspace', query)).toEqual(found)
  })
  it.each([
    [['a', 'b'], ['l', 'm'], true],
    [['a', 'b', 'c'], [], false],
    [[], ['l', 'm', 'n'], false],
  ])('of %j and %j is complete: %s', async (found, large, complete) => {
    const { files: on } = files('ok .', `${names(...found)}\n${names(...large)}`)
    expect(await on.search('/workspace', query)).toEqual({
      paths: found.slice(0, 2),
      tooLarge: large.slice(0, 2),
      complete,
    })
  })
})
