// Runs of code as commands: what is run for each, and what is made of how it ended.
import { encodeBase64 } from '@helix-agents/core/provider'
import { describe, expect, it } from 'vitest'
import { ScriptCode } from '../../../src/driver/code/script-code.ts'
import { Slots } from '../../../src/driver/remote/slots.ts'
import { linkTo, said } from '../remote/link-to.ts'

const options = { cwd: '/workspace', timeoutMs: 70, maxOutputBytes: 99, spillDirectory: '/spill' }
const bytes = (text: string): string => encodeBase64(new Uint8Array(Buffer.from(text)))
const base64 = (text: string): string => `base64 ${text.length} ${text.length} 0 0`

/** An interpreter whose runs end so. @param channel What it reports beside its outputs. */
function code({ channel = '', stdout = '', exitCode = 0, timedOut = 0, status = 'ok' } = {}) {
  const parts = linkTo(({ script }, nonce) => {
    if (nonce === '') return { stdout: '', stderr: '', exitCode: 0 }
    if (!script.includes('hx_most')) return said(nonce, status)
    const notes = [stdout, '', channel].map(base64).join(' ')
    const payload = [stdout, '', channel].map((text) => `${bytes(text)}\n`).join('')
    return said(nonce, `ended ${exitCode} ${timedOut} 1 e7 ${notes}`, payload)
  })
  const on = new ScriptCode({ link: parts.link, slots: new Slots('x'), env: { A: 'own' } })
  return { ...parts, on }
}
const event = (fields: object): string => `${JSON.stringify(fields)}\n`

describe('code that runs once', () => {
  it('is a command with the variables of all, and a channel', async () => {
    const { on, ran } = code({ stdout: 'hi' })
    expect(await on.runOnce('python', '1', options)).toEqual({
      outputs: [{ type: 'stdout', data: new Uint8Array(Buffer.from('hi')) }],
      exitCode: 0,
      timedOut: false,
      aborted: false,
      epoch: 'e7',
    })
    expect(ran[0]?.script).toContain('hx_most=99 hx_spill=/spill hx_live= hx_channel=12582912')
    expect(ran[0]?.script).toContain("hx_variables=('A=own' 'HELIX_WS_PROCESS=0002')")
    expect(ran[0]?.script).toMatch(/ once text 1\) hx_variables/)
  })
  it('of a language that is none is refused', async () => {
    const { on, ran } = code()
    const refused = { code: 'language-missing', admitted: 'no', message: 'cobol cannot be run' }
    await expect(on.runOnce('cobol', '1', options)).rejects.toMatchObject(refused)
    await expect(on.create('cobol', { cwd: '/' })).rejects.toMatchObject(refused)
    expect(ran).toEqual([])
  })
  it('and is not wanted any more is neither stored nor run', async () => {
    const { on, ran, stored } = code()
    const signal = AbortSignal.abort(new Error('stopped'))
    const long = 'x'.repeat(100_001)
    await expect(on.runOnce('python', long, { ...options, signal })).rejects.toThrow('stopped')
    expect([ran, stored]).toEqual([[], []])
  })
  it.each([
    ['x'.repeat(100_000), false],
    ['x'.repeat(100_001), true],
    ['é'.repeat(50_001), true],
    ['a\0', true],
  ])('goes through a file when it is long or holds a NUL', async (text, isStored) => {
    const { on, ran, stored } = code()
    await on.runOnce('javascript', text, options)
    const path = '/scratch/s-0001.code'
    const call = { deadlineMs: 30_000, isRepeatable: true }
    expect(stored).toEqual(isStored ? [{ path, text, call }] : [])
    const swept = ran.filter(({ script }) => script === `rm -f -- '${path}'`)
    expect(swept.map((each) => each.call)).toEqual(isStored ? [call] : [])
  })
})

describe('a run that ends', () => {
  const error = { name: 'InterpreterExit', message: 'the interpreter ended with exit code 3' }
  it('with an error of its own has that', async () => {
    const channel = event({ type: 'error', name: 'E', message: 'm' })
    const { on } = code({ channel, exitCode: 1 })
    expect((await on.runOnce('python', '1', options)).error).toMatchObject({ name: 'E' })
  })
  it('without a word has its exit code', async () => {
    const { on } = code({ exitCode: 3 })
    expect((await on.runOnce('python', '1', options)).error).toEqual(error)
    const gone = code({ exitCode: 3, channel: event({ type: 'ended' }) })
    expect((await gone.on.runOnce('python', '1', options)).error).toEqual({
      ...error,
      message: `${error.message}, and its context is gone`,
    })
  })
  it('out of time has no other error', async () => {
    const { on } = code({ timedOut: 1, exitCode: 3 })
    const outcome = await on.runOnce('python', '1', options)
    expect([outcome.timedOut, outcome.exitCode, outcome.error]).toEqual([true, 124, undefined])
  })
  it.each([
    [{ type: 'absent', program: 'python3' }, 'language-missing', 'the image has no python3'],
    [{ type: 'lost' }, 'context-missing', 'no code context has this id'],
    [{ type: 'full' }, 'storage-full', 'the container has no room for the code'],
  ])('with %j is an error', async (ending, errorCode, message) => {
    const { on } = code({ channel: event(ending) })
    await expect(on.runOnce('python', '1', options)).rejects.toMatchObject({
      code: errorCode,
      message,
      admitted: 'no',
    })
  })
})

describe('a context', () => {
  it('is a process with pipes, of the language', async () => {
    const { on, ran } = code()
    expect(await on.create('python', { cwd: '/workspace/d' })).toBe('0001')
    const script = ran[0]?.script ?? ''
    expect(script).toContain('q=/scratch/c-0001 hx_cwd=/workspace/d')
    expect(script).toContain('hx_program=python3 hx_title=python')
    expect(script).toContain("serve /scratch/c-0001 /workspace/d) hx_variables=('A=own')")
    expect(ran[0]?.call).toEqual({ deadlineMs: 30_000, isRepeatable: false })
  })
  it('without an interpreter is refused', async () => {
    for (const [status, missing] of [
      ['absent python3', 'python3'],
      ['absent', 'interpreter'],
    ] as const) {
      const { on } = code({ status })
      const refused = { code: 'language-missing', missing, message: `the image has no ${missing}` }
      await expect(on.create('python', { cwd: '/' })).rejects.toMatchObject(refused)
    }
  })
  it('runs code by its id, and stays', async () => {
    const { on, ran } = code({ stdout: 'hi' })
    expect((await on.run('a1', '1', options)).outputs).toHaveLength(1)
    expect(ran).toHaveLength(1)
    expect(ran[0]?.script).toMatch(/bash \/scratch\/c-a1 0001 text 1\) hx_variables/)
  })
  it('whose run is ended is removed', async () => {
    const { on, ran } = code({ timedOut: 1 })
    await on.run('a1', '1', options)
    expect(ran[1]?.script).toContain('q=/scratch/c-a1 n=a1 grace=1000 context=1')
    expect(ran[1]?.call).toEqual({ deadlineMs: 30_000, isRepeatable: true })
  })
  it('that is not there is an error', async () => {
    const lost = { code: 'context-missing', admitted: 'no' }
    await expect(code({ status: 'missing' }).on.remove('a1')).rejects.toMatchObject(lost)
    await code().on.remove('a1')
    const { on, ran } = code()
    for (const id of ['', 'A1', '../x', 'a1\n', 'a'.repeat(65)]) {
      await expect(on.remove(id)).rejects.toMatchObject(lost)
      await expect(on.run(id, '1', options)).rejects.toMatchObject(lost)
    }
    expect(ran).toEqual([])
  })
})
