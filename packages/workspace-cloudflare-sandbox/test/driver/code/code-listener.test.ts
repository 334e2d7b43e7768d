// The outputs of a run of code for whoever listens, while it runs and when it ends.
import { encodeBase64 } from '@helix-agents/core/provider'
import { describe, expect, it } from 'vitest'
import { ScriptCode } from '../../../src/driver/code/script-code.ts'
import type { DriverCodeOptions, DriverCodeOutput } from '../../../src/driver/port.ts'
import { Slots } from '../../../src/driver/remote/slots.ts'
import { linkTo, said } from '../remote/link-to.ts'

const base = { cwd: '/workspace', timeoutMs: 70, maxOutputBytes: 99, spillDirectory: '/spill' }
const encode = (text: string): string => encodeBase64(new Uint8Array(Buffer.from(text)))
const note = (text: string): string => `base64 ${text.length} ${text.length} 0 0`
const result = (text: string, at: readonly number[]): string =>
  `${JSON.stringify({ type: 'result', text, at })}\n`

/** What each poll brings: stdout, stderr and the channel. The last is what is there at the end. */
type Poll = readonly [stdout: string, stderr: string, channel: string]

/** An interpreter whose run ends when all polls were made. */
function interpreter(polls: readonly Poll[]) {
  const left = [...polls]
  const over = Promise.withResolvers<void>()
  const whole = [0, 1, 2].map((n) => polls.map((poll) => poll[n]).join(''))
  const parts = linkTo(async ({ script }, nonce) => {
    if (script.includes('hx_most')) {
      await over.promise
      const payload = whole.map((text) => `${encode(text)}\n`).join('')
      return said(nonce, `ended 0 0 1 e7 ${whole.map(note).join(' ')}`, payload)
    }
    const poll = left.length > 1 ? left.shift() : undefined
    if (poll !== undefined) return said(nonce, 'ok', poll.map(encode).join('\n'))
    over.resolve()
    return new Promise(() => {})
  })
  return { ...parts, on: new ScriptCode({ link: parts.link, slots: new Slots('x'), env: {} }) }
}

const lineOf = (output: DriverCodeOutput): string =>
  output.type === 'result'
    ? `result ${String(output.value)}`
    : `${output.type} ${new TextDecoder().decode(output.data)}`

const refuse = (): never => {
  throw new Error('full')
}

describe('a listener', () => {
  const polls: readonly Poll[] = [
    ['ab', 'x', result('r', [1, 0])],
    ['c', '', result('s', [4, 2])],
    ['de', 'yz', result('t', [9, 9])],
  ]
  const all = ['stdout a', 'result r', 'stdout b', 'stderr x', 'stdout cd']
  const rest = ['stderr y', 'result s', 'stdout e', 'stderr z', 'result t']

  it('hears each output in its place, and the outcome has all of them', async () => {
    const { on, ran } = interpreter(polls)
    const heard: string[] = []
    const options: DriverCodeOptions & { readonly heard: string[] } = {
      ...base,
      heard,
      async onOutput(output) {
        await Promise.resolve()
        this.heard.push(lineOf(output))
      },
    }
    const outcome = await on.runOnce('python', '1', options)
    expect(heard).toEqual([...all, ...rest])
    expect(outcome.outputs.map(lineOf)).toEqual([
      'stdout a',
      'result r',
      'stdout bcd',
      'stderr xy',
      'result s',
      'stdout e',
      'stderr z',
      'result t',
    ])
    expect(ran[0]?.script).toContain('hx_live=1 hx_channel=12582912')
  })

  it('is waited for', async () => {
    const { on, ran } = interpreter(polls)
    const first = Promise.withResolvers<void>()
    const running = on.runOnce('python', '1', { ...base, onOutput: () => first.promise })
    for (let turn = 0; turn < 100; turn += 1) await Promise.resolve()
    expect(ran).toHaveLength(2)
    first.resolve()
    await running
    expect(ran).toHaveLength(4)
  })

  it('that fails ends the run', async () => {
    const stopped = Promise.withResolvers<void>()
    const { link, ran } = linkTo(async ({ script }, nonce) => {
      if (script.includes('hx_most')) {
        await stopped.promise
        return said(nonce, `ended 143 0 1 e7 ${['', '', ''].map(note).join(' ')}`, '\n\n\n')
      }
      if (script.includes('piece=')) return said(nonce, 'ok', [encode('a'), '', ''].join('\n'))
      stopped.resolve()
      return said(nonce, 'ok')
    })
    const on = new ScriptCode({ link, slots: new Slots('x'), env: {} })
    await expect(on.runOnce('python', '1', { ...base, onOutput: refuse })).rejects.toThrow('full')
    expect(ran).toHaveLength(3)
  })
})

describe('a context whose run is ended', () => {
  it.each(['timed out', 'aborted'])('as it was %s is gone when the run is over', async (why) => {
    const abort = new AbortController()
    const removed = Promise.withResolvers<void>()
    let isOver = false
    const { link, ran } = linkTo(async ({ script }, nonce) => {
      if (script.includes('context=1')) {
        await removed.promise
        throw new Error('lost')
      }
      if (!script.includes('hx_most')) return said(nonce, 'ok')
      if (why === 'aborted') abort.abort()
      const timedOut = why === 'aborted' ? 0 : 1
      return said(nonce, `ended 0 ${timedOut} 1 e7 ${['', '', ''].map(note).join(' ')}`, '\n\n\n')
    })
    const on = new ScriptCode({ link, slots: new Slots('x'), env: {} })
    const options = { ...base, signal: abort.signal }
    const running = on.run('a1', '1', options).finally(() => (isOver = true))
    for (let turn = 0; turn < 100; turn += 1) await Promise.resolve()
    expect(isOver).toBe(false)
    removed.resolve()
    const outcome = await running
    expect([outcome.timedOut, outcome.aborted]).toEqual([why !== 'aborted', why === 'aborted'])
    expect(ran.at(-1)?.script).toContain('context=1')
  })
})

describe('code in a file', () => {
  const long = 'x'.repeat(100_001)
  it('that cannot be stored is not run', async () => {
    const { link, ran } = linkTo((_, nonce) => said(nonce, 'ok'))
    const full = new Error('no room')
    Object.assign(link.runner, { store: () => Promise.reject(full) })
    const on = new ScriptCode({ link, slots: new Slots('x'), env: {} })
    await expect(on.runOnce('python', long, base)).rejects.toBe(full)
    expect(ran).toEqual([])
  })
  it('is removed before the run is over, also when that failed', async () => {
    for (const isLost of [true, false]) {
      const swept = Promise.withResolvers<void>()
      let isOver = false
      const { link, ran } = linkTo(async ({ script }, nonce) => {
        if (script.startsWith('rm ')) {
          await swept.promise
          throw new Error('no')
        }
        if (isLost) throw new Error('lost')
        return said(nonce, `ended 0 0 1 e7 ${['', '', ''].map(note).join(' ')}`, '\n\n\n')
      })
      const on = new ScriptCode({ link, slots: new Slots('x'), env: {} })
      const running = on
        .runOnce('python', long, base)
        .then(
          () => 'fine',
          (error: unknown) => String(error),
        )
        .finally(() => (isOver = true))
      for (let turn = 0; turn < 100; turn += 1) await Promise.resolve()
      expect(isOver).toBe(false)
      swept.resolve()
      expect(await running).toBe(isLost ? 'Error: lost' : 'fine')
      expect(ran.at(-1)?.script).toMatch(/^rm -f -- '\/scratch\/s-\d+\.code'$/)
    }
  })
})

it('an output that was cut says how much is missing, and where the whole is', async () => {
  const notes = `base64 2 9 1 1 base64 2 9 1 0 ${note('')}`
  const { link } = linkTo((_, nonce) =>
    said(nonce, `ended 0 0 1 e7 ${notes}`, `${encode('ab')}\n${encode('cd')}\n\n`),
  )
  const on = new ScriptCode({ link, slots: new Slots('x'), env: {} })
  const { outputs } = await on.runOnce('python', '1', base)
  expect(outputs.map(lineOf)).toEqual([
    'stdout a\n[7 bytes are left out; the whole output is in /spill/s-x-0-0002.stdout]\nb',
    'stderr c\n[7 bytes are left out]\nd',
  ])
})
