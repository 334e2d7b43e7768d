import type { CodeOutput } from '@helix-agents/core/provider'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { MarkedStream } from '../../src/code/marked-stream.ts'
import { RunOutputs } from '../../src/code/run-outputs.ts'

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
const shown = (outputs: readonly CodeOutput[]): readonly string[] =>
  outputs.map((one) =>
    one.type === 'stdout' || one.type === 'stderr'
      ? `${one.type} ${new TextDecoder().decode(one.data)}`
      : one.type,
  )

describe('the outputs of a run', () => {
  it('keep their order up to the limit of each stream', async () => {
    const outputs = new RunOutputs(10, {})
    outputs.print('stdout', bytes('12345'))
    outputs.print('stderr', bytes('abcdefghij'))
    outputs.add({ type: 'result', value: 1 })
    outputs.print('stdout', bytes('67890'))
    expect(shown(await outputs.finish())).toEqual([
      'stdout 12345',
      'stderr abcdefghij',
      'result',
      'stdout 67890',
    ])
  })
  it('of a stream over its limit are head and tail, before the others', async () => {
    const outputs = new RunOutputs(10, {})
    outputs.print('stderr', bytes('kept'))
    outputs.print('stdout', bytes('0123456789'))
    outputs.add({ type: 'result', value: 1 })
    outputs.print('stdout', bytes('abc'))
    expect(shown(await outputs.finish())).toEqual([
      'stdout 0',
      'stdout \n[3 bytes are left out]\n',
      'stdout 456789abc',
      'stderr kept',
      'result',
    ])
  })
  it('are copies: a reader uses its memory again', async () => {
    const outputs = new RunOutputs(10, {})
    const memory = bytes('one')
    outputs.print('stdout', memory)
    memory.fill(120)
    expect(shown(await outputs.finish())).toEqual(['stdout one'])
  })
  it('go to the callback one after the other, and its errors end nothing', async () => {
    const heard: string[] = []
    const options = {
      suffix: '!',
      async onOutput(this: { readonly suffix: string }, output: CodeOutput) {
        heard.push(`begin ${shown([output]).join('')}`)
        await Promise.resolve()
        heard.push(`end${this.suffix}`)
        if (heard.length === 2) throw new Error('late')
      },
    }
    const outputs = new RunOutputs(10, options)
    outputs.print('stdout', bytes('one'))
    outputs.print('stderr', bytes('two'))
    outputs.print('stdout', bytes('over the limit'))
    await outputs.finish()
    expect(heard).toEqual(['begin stdout one', 'end!', 'begin stderr two', 'end!'])
    expect(outputs.callbackErrors).toEqual([new Error('late')])
  })
})

describe('a stream with marks', () => {
  const MARK = 'cd'.repeat(16)
  const SENT = `\u001e${MARK}\u001e`
  // Parts of marks are what could be taken for one.
  const text = fc
    .array(fc.constantFrom('x', '\u001e', `\u001e${MARK}`, MARK, '\u001ecd'), { maxLength: 8 })
    .map((parts) => parts.join(''))
    .filter((one) => !one.includes(SENT))

  it('gives all that comes before the mark, whatever the pieces, and nothing after', async () => {
    await fc.assert(
      fc.asyncProperty(text, fc.integer({ min: 1, max: 40 }), async (printed, size) => {
        const taken: string[] = []
        const stream = new MarkedStream((piece) => taken.push(Buffer.from(piece).toString()))
        stream.add(bytes('before'))
        stream.begin(MARK)
        const all = bytes(`${printed}${SENT}behind`)
        for (let at = 0; at < all.length; at += size) stream.add(all.subarray(at, at + size))
        await stream.reached
        stream.end()
        // The first mark there is, which may begin in what was printed.
        const whole = `${printed}${SENT}`
        expect(taken.join('')).toBe(whole.slice(0, whole.indexOf(SENT)))
        expect(taken).not.toContain('')
      }),
    )
  })
  it('gives at the end of a run what looked like the start of a mark', () => {
    const taken: string[] = []
    const stream = new MarkedStream((piece) => taken.push(Buffer.from(piece).toString()))
    stream.begin(MARK)
    stream.add(bytes('a\u001ecd'))
    expect(taken).toEqual(['a'])
    stream.end()
    stream.end()
    expect(taken).toEqual(['a', '\u001ecd'])
    stream.begin(MARK)
    stream.add(bytes('\u001ecd'))
    stream.begin(MARK)
    stream.add(bytes('b'))
    expect(taken).toEqual(['a', '\u001ecd', 'b'])
  })
  it('holds back no more than a mark is long', () => {
    const taken: string[] = []
    const stream = new MarkedStream((piece) => taken.push(Buffer.from(piece).toString()))
    stream.begin(MARK)
    stream.add(bytes(`\u001e${'x'.repeat(SENT.length - 2)}`))
    expect(taken).toEqual([])
    stream.add(bytes('y'))
    expect(taken).toEqual([`\u001e${'x'.repeat(SENT.length - 2)}y`])
  })
})
