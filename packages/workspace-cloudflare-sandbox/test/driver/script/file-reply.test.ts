// What a script answers about files, and which error an answer is.
import { encodeBase64 } from '@helix-agents/core/provider'
import { describe, expect, it } from 'vitest'
import {
  coldError,
  decodeText,
  eachName,
  failureOf,
  readEntries,
  readEntry,
} from '../../../src/driver/script/file-reply.ts'

const reply = (status: string, ...fields: readonly string[]) => ({ payload: '', status, fields })
const encoded = (text: string): string => encodeBase64(new TextEncoder().encode(text))

describe('an entry', () => {
  it.each([
    ['81a4', 'file', 12],
    ['41ed', 'directory', 0],
    ['a1ff', 'symlink', 0],
    ['11a4', 'other', 0],
    ['', 'other', 0],
  ])('of the mode %s is a %s', (mode, type, sizeBytes) => {
    const answer = reply('ok', mode, '12', '1700000000.123456789', '7', '1700000001.5')
    expect(readEntry(answer, '/workspace/a')).toEqual({
      path: '/workspace/a',
      type,
      sizeBytes,
      modifiedAtMs: 1_700_000_000_123,
      version: '7-12-1700000000.123456789-1700000001.5',
    })
  })

  it('of a listing has its letter, and a name with spaces', async () => {
    const lines = [
      'f 12 1.50 7 2.50 a  b',
      'd 4096 1.00 8 2.00 c',
      'l 1 1.00 9 2.00 d',
      'p 0 1.00 1 2.00 e',
    ]
    const payload = encoded(lines.map((line) => `${line}\0`).join(''))
    const entries = await readEntries({ ...reply('ok'), payload }, undefined)
    expect(entries.map(({ path, sizeBytes, type }) => [path, type, sizeBytes])).toEqual([
      ['a  b', 'file', 12],
      ['c', 'directory', 0],
      ['d', 'symlink', 0],
      ['e', 'other', 0],
    ])
    expect(entries[0]).toMatchObject({ modifiedAtMs: 1500, version: '7-12-1.5-2.5' })
  })

  it('of which nothing is told has no size, no time and a version like no other', async () => {
    const nothing = { sizeBytes: 0, modifiedAtMs: 0, version: '---' }
    const path = '/workspace/a'
    expect(readEntry(reply('ok'), path)).toEqual({ ...nothing, path, type: 'other' })
    const answer = { ...reply('ok'), payload: encoded('f\0') }
    expect(await readEntries(answer, undefined)).toEqual([{ ...nothing, path: '', type: 'file' }])
  })

  it('of a listing is not read for whoever stopped', async () => {
    const line = 'f 12 1.50 7 2.50 a\0'
    const answer = { ...reply('ok'), payload: encoded(line.repeat(20_000)) }
    expect(await readEntries(answer, undefined)).toHaveLength(20_000)
    const signal = AbortSignal.abort(new Error('enough'))
    await expect(readEntries(answer, signal)).rejects.toThrow('enough')
  })
})

const namesOf = async (text: string): Promise<readonly string[]> => {
  const names: string[] = []
  await eachName(`${encoded(text)}\n`, undefined, (name) => names.push(name))
  return names
}

describe('names', () => {
  it('are those between zero bytes, the last one also without', async () => {
    expect(await namesOf('')).toEqual([])
    expect(await namesOf('a\0')).toEqual(['a'])
    expect(await namesOf('a\0\0b')).toEqual(['a', '', 'b'])
  })

  it('are whole across the stretches in which they are decoded', async () => {
    const names = Array.from({ length: 3000 }, (_, n) => `\uFEFFé-${n}`)
    expect(await namesOf(names.join('\0'))).toEqual(names)
  })

  it('end with the signal of their caller', async () => {
    const signal = AbortSignal.abort(new Error('enough'))
    const many = encoded('a\0'.repeat(200_000))
    await expect(eachName(many, signal, () => {})).rejects.toThrow('enough')
  })

  it('that are no text have replacement characters', async () => {
    const bytes = encodeBase64(Uint8Array.of(0x61, 0xff, 0, 0xc3))
    const names: string[] = []
    await eachName(bytes, undefined, (name) => names.push(name))
    expect(names).toEqual(['a\uFFFD'])
    expect(decodeText(bytes)).toBe('a\uFFFD\0\uFFFD')
  })

  it('of a text keep its byte order mark', () => {
    expect(decodeText(encoded('\uFEFFé'))).toBe('\uFEFFé')
  })
})

describe('an answer that is none of success', () => {
  it.each([
    ['not-found', 'not-found', 'nothing has this path'],
    ['exists', 'exists', 'something has this path already'],
    ['is-directory', 'is-directory', 'this is a directory'],
    ['not-directory', 'not-directory', 'this is no directory'],
    ['not-empty', 'not-empty', 'the directory is not empty'],
    ['too-large', 'too-large', 'the file is larger than allowed'],
    ['version-conflict', 'version-conflict', 'the file was changed in the meantime'],
    ['denied', 'denied', 'permission denied'],
    ['special', 'denied', 'this is no ordinary file'],
    ['escape', 'path-escape', 'a link leads out of the workspace'],
    ['nested', 'name-too-long', 'what lies below it is nested past the limits of paths'],
    ['into-itself', 'failed', 'a directory cannot go into itself'],
  ])('%s is %s', (what, code, message) => {
    const error = failureOf(reply('fail', what), 'No such file or directory')
    expect(error).toMatchObject({ code, message, admitted: 'yes' })
  })

  it.each([
    ['No space left', 'storage-full'],
    ['Disk quota exceeded', 'storage-full'],
    ['Too many open files', 'storage-full'],
    ['Read-only file system', 'read-only'],
    ['File name too long', 'name-too-long'],
    ['File too large', 'too-large'],
    ['Permission denied', 'denied'],
    ['Operation not permitted', 'denied'],
    ['Not a directory', 'not-directory'],
    ['Is a directory', 'is-directory'],
    ['Directory not empty', 'not-empty'],
    ['File exists', 'exists'],
    ['No such file or directory', 'not-found'],
  ])('and a system that says %s is %s', (text, code) => {
    const message = `the container says: ${text}`
    const error = failureOf(reply('fail', 'system'), `mv: cannot move: ${text}\n`)
    expect(error).toMatchObject({ code, message, admitted: 'yes' })
  })

  it('of a system that says nothing known is a failure', () => {
    const known = { code: 'failed', message: 'the container could not do it', admitted: 'yes' }
    expect(failureOf(reply('fail', 'system'), 'odd')).toMatchObject(known)
    expect(failureOf(reply('fail'), '')).toMatchObject(known)
  })

  it('is told when the container is another one', () => {
    const message = 'the container was started anew and its files are gone'
    const cold = { code: 'interrupted', message, admitted: 'no', reason: 'asleep' }
    expect(failureOf(reply('cold', 'not-found'), '')).toMatchObject(cold)
    expect(coldError()).toMatchObject(cold)
  })

  const ROOT_FILE =
    'the workspace directory was replaced by a file: move the file away, then make the directory again'
  const ROOT_LINK =
    'the workspace directory was replaced by a link that leads nowhere: remove the link, then make the directory again'
  const MISSING = 'the working directory does not exist: make it first, or choose another one'

  it.each([
    [['fail', 'root', 'link'], ROOT_LINK],
    [['fail', 'root', 'file'], ROOT_FILE],
    [['fail', 'root'], ROOT_FILE],
    [['directory', 'missing', 'file'], ROOT_FILE],
    [['directory', 'missing', 'link'], ROOT_LINK],
    [
      ['directory', 'file', 'directory'],
      'the working directory is a file: choose another directory',
    ],
    [['directory', 'link', 'directory'], 'the working directory is a link that leads nowhere'],
    [['directory', 'missing', 'directory'], MISSING],
    [['directory'], MISSING],
  ])('%j says which directory is missing, and what to do', ([status = '', ...fields], message) => {
    const expected = { code: 'directory-missing', message, admitted: 'no' }
    expect(failureOf(reply(status, ...fields), '')).toMatchObject(expected)
  })
})
