import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ShellRunOptions } from '@helix-agents/core/provider'
import { afterAll, describe, expect, it } from 'vitest'
import { OutputCapture } from '../../../src/shell/output/output-capture.ts'
import { SpillFile } from '../../../src/shell/output/spill-file.ts'
import { text } from '../../open-workspace.ts'

const scratch = mkdtempSync(join(tmpdir(), 'helix-capture-'))
afterAll(() => rmSync(scratch, { recursive: true, force: true }))

const captureOf = (name: string, maxBytes: number, run: ShellRunOptions = {}) => {
  const spill = new SpillFile(join(scratch, name), maxBytes)
  const errors: Error[] = []
  const options = { limitBytes: 10, spill, callback: 'onStdout', run, errors } as const
  return { spill, errors, capture: new OutputCapture(options) }
}

describe('an output of a command', () => {
  const published: string[] = []
  const publish = (path: string): string => {
    published.push(readFileSync(path, 'utf8'))
    return '/published'
  }

  it('up to its limit is returned, and stored nowhere', () => {
    const { capture, spill } = captureOf('limit', 100)
    void capture.add(Buffer.from('01234'))
    void capture.add(Buffer.from('56789'))
    expect(existsSync(spill.hostPath)).toBe(false)
    const { bytes, ...rest } = capture.finish(publish)
    expect([text(bytes), rest, published]).toEqual(['0123456789', {}, []])
  })
  it('over it is head and tail, and published as a whole', () => {
    const { capture, spill } = captureOf('over', 100)
    void capture.add(Buffer.from('0123456789'))
    void capture.add(Buffer.from('a'))
    void capture.add(Buffer.from('b'))
    const { bytes, cut } = capture.finish(publish)
    expect([text(bytes), cut]).toEqual([
      '03456789ab',
      { totalBytes: 12, headBytes: 1, path: '/published' },
    ])
    expect(published).toEqual(['0123456789ab'])
    expect(existsSync(spill.hostPath)).toBe(false)
  })
  it('that is not whole on disk, or cannot be published, has no path', () => {
    const { capture, spill } = captureOf('part', 11)
    void capture.add(Buffer.from('0123456789ab'))
    expect(capture.finish(publish).cut).toEqual({ totalBytes: 12, headBytes: 1 })
    expect([published.length, existsSync(spill.hostPath)]).toEqual([1, false])
    const other = captureOf('refused', 100)
    void other.capture.add(Buffer.from('0123456789ab'))
    expect(other.capture.finish(() => undefined).cut).toEqual({ totalBytes: 12, headBytes: 1 })
    expect(existsSync(other.spill.hostPath)).toBe(false)
  })
  it('goes to its callback, in memory of its own, and errors are kept', async () => {
    const heard: Uint8Array[] = []
    const run: ShellRunOptions = {
      onStdout: async (piece) => {
        heard.push(piece)
        if (heard.length === 1) throw new Error('of the callback')
        // oxlint-disable-next-line typescript/only-throw-error -- what callers may do
        throw 'text'
      },
    }
    const { capture, errors } = captureOf('callback', 100, run)
    const memory = Buffer.from('one')
    await capture.add(memory)
    memory.fill(120)
    await capture.add(memory)
    expect(heard.map(text)).toEqual(['one', 'xxx'])
    expect(errors).toEqual([new Error('of the callback'), new Error('text')])
    const silent = captureOf('silent', 100, { onStderr: async () => {} })
    expect(silent.capture.add(memory)).toBeUndefined()
  })
})
