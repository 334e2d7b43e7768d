import { encodeBase64 } from '@helix-agents/core/provider'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { DriverError } from '../../../src/driver/driver-error.ts'
import { findReply, parseReply } from '../../../src/driver/script/reply.ts'
import { readRunReport } from '../../../src/driver/script/run-reply.ts'

const nonce = fc.stringMatching(/^[0-9a-f]{16}$/)
const bytes = fc.uint8Array({ maxLength: 200 })
const paths = { stdout: '/out', stderr: '/err' }

const isPlain = (output: Uint8Array): boolean => output.every((byte) => byte > 0 && byte < 128)

/** An answer as the script prints it. */
function print(mark: string, outputs: readonly Uint8Array[], exitCode: number): string {
  const parts = outputs.map(
    (output) =>
      `${isPlain(output) ? new TextDecoder('latin1').decode(output) : encodeBase64(output)}\n`,
  )
  const notes = outputs.map(
    (output) => `${isPlain(output) ? 'plain' : 'base64'} ${output.length} ${output.length} 0 0`,
  )
  return `${parts.join('')}\n%${mark} ended ${exitCode} 0 12 e1 ${notes.join(' ')}\n`
}

describe('an answer', () => {
  it('gives back any output, whatever it looks like', () => {
    fc.assert(
      fc.property(nonce, bytes, bytes, fc.nat(255), (mark, stdout, stderr, exitCode) => {
        const reply = parseReply(print(mark, [stdout, stderr], exitCode), mark)
        const report = readRunReport(reply, paths)
        expect([report.exitCode, report.epoch, report.timedOut]).toEqual([exitCode, 'e1', false])
        expect(Buffer.compare(report.stdout.bytes, stdout)).toBe(0)
        expect(Buffer.compare(report.stderr.bytes, stderr)).toBe(0)
      }),
    )
  })

  it('is not taken from an output that imitates it', () => {
    fc.assert(
      fc.property(nonce, nonce, (mark, other) => {
        fc.pre(mark !== other)
        const forged = new TextEncoder().encode(
          print(other, [new Uint8Array(), new Uint8Array()], 0),
        )
        const report = readRunReport(parseReply(print(mark, [forged, forged], 7), mark), paths)
        expect([report.exitCode, report.stdout.bytes.length]).toEqual([7, forged.length])
        expect(findReply(new TextDecoder().decode(forged), mark)).toBeUndefined()
      }),
    )
  })

  it('cut off anywhere is no answer', () => {
    const whole = print('abcd', [Uint8Array.of(65, 66), Uint8Array.of(200)], 0)
    for (let end = 0; end < whole.length; end += 1) {
      expect(() => parseReply(whole.slice(0, end), 'abcd')).toThrow(DriverError)
    }
  })

  it('with bytes missing from an output is an error', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 50 }), fc.nat(), (stdout, at) => {
        const whole = print('abcd', [stdout, Uint8Array.of(200)], 0)
        const end = whole.indexOf('\n\n%abcd')
        const cut = at % end
        const damaged = whole.slice(0, cut) + whole.slice(cut + 1)
        expect(() => readRunReport(parseReply(damaged, 'abcd'), paths)).toThrow(Error)
      }),
    )
  })
})
