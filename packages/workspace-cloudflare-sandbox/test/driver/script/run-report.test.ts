// What the script of a command reports, field by field.
import { encodeBase64 } from '@helix-agents/core/provider'
import { describe, expect, it } from 'vitest'
import { readRunReport } from '../../../src/driver/script/run-reply.ts'

const paths = { stdout: '/out', stderr: '/err' }
const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text)

function report(payload: string, fields: string) {
  return readRunReport({ payload, status: 'ended', fields: fields.split(' ') }, paths)
}

const whole = (bytes: Uint8Array) => ({ bytes, totalBytes: bytes.length })
const NOTHING = whole(bytesOf(''))

it('has how it ended, when, in which container, and both outputs', () => {
  expect(report('ab\nc\n', '7 0 12 e1 plain 2 2 0 0 plain 1 1 0 0')).toEqual({
    exitCode: 7,
    timedOut: false,
    durationMs: 12,
    epoch: 'e1',
    stdout: whole(bytesOf('ab')),
    stderr: whole(bytesOf('c')),
  })
})

it('of one whose time was up has the exit code for that', () => {
  expect(report('\n\n', '0 1 12 - plain 0 0 0 0 plain 0 0 0 0')).toEqual({
    exitCode: 124,
    timedOut: true,
    durationMs: 12,
    epoch: null,
    stdout: NOTHING,
    stderr: NOTHING,
  })
})

it('has what was written to a third descriptor, when there was one', () => {
  const { channel } = report('\n\nxy\n', '0 0 1 - plain 0 0 0 0 plain 0 0 0 0 plain 2 2 0 0')
  expect(channel).toEqual(whole(bytesOf('xy')))
  const nothing = 'plain 0 0 0 0 plain 0 0 0 0'
  const cut = report('\n\nxy\n', `0 0 1 - ${nothing} plain 2 9 1 1`)
  expect(cut.channel).toEqual({ bytes: bytesOf('xy'), totalBytes: 9, headBytes: 1 })
})

it('says of an output that was cut how much was kept of its head, and where the whole is', () => {
  const payload = `${encodeBase64(Uint8Array.of(1, 2, 200, 4))}\nabc\n`
  const { stdout, stderr } = report(payload, '0 0 1 - base64 4 9 3 1 plain 3 4 2 0')
  expect(stdout).toEqual({
    bytes: Uint8Array.of(1, 2, 200, 4),
    totalBytes: 9,
    headBytes: 3,
    spillPath: '/out',
  })
  expect(stderr).toEqual({ bytes: bytesOf('abc'), totalBytes: 4, headBytes: 2 })
  const stored = report('a\nb\n', '0 0 1 - plain 1 1 0 0 plain 1 1 0 1')
  expect(stored.stderr).toEqual({ ...whole(bytesOf('b')), spillPath: '/err' })
})

describe('a report that does not hold together', () => {
  const NOTES = 'plain 1 1 0 0 plain 1 1 0 0'
  it.each([
    ['an output is missing', 'a\n', '0 0 1 - plain 1 1 0 0'],
    ['no output is there', '', '0 0 1 -'],
    ['there is one too many', 'a\nb\nc\nd\n', `0 0 1 - ${NOTES} ${NOTES}`],
    ['bytes are left', 'a\nb\nc', `0 0 1 - ${NOTES}`],
    ['an output is longer than it says', 'aa\nb\n', `0 0 1 - ${NOTES}`],
    ['an output is shorter than it says', '\nb\n', `0 0 1 - ${NOTES}`],
    ['a text has other bytes than characters', 'é\nb\n', `0 0 1 - ${NOTES}`],
    ['a length is none', 'a\nb\n', '0 0 1 - plain x 1 0 0 plain 1 1 0 0'],
    ['an encoded output has other bytes', 'AAAA\nb\n', '0 0 1 - base64 2 2 0 0 plain 1 1 0 0'],
  ])('%s', (_, payload, fields) => {
    const message = 'the output of the command arrived damaged'
    const damaged = expect.objectContaining({ code: 'interrupted', admitted: 'yes', message })
    expect(() => report(payload, fields)).toThrow(damaged)
  })
})
