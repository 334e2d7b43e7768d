// The outputs of a running command, as its polls and its end bring them.
import { encodeBase64 } from '@helix-agents/core/provider'
import { describe, expect, it } from 'vitest'
import { LiveOutput } from '../../../src/driver/remote/live-output.ts'
import { linkTo, said } from './link-to.ts'

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text)
const encoded = (text: string): string => encodeBase64(bytesOf(text))

/** A command whose polls bring these texts: of stdout, of stderr and of the channel. */
function followed(polls: readonly (readonly string[])[]) {
  const lines: string[] = []
  const left = [...polls]
  const keep = (name: string) => async (chunk: Uint8Array) => {
    await Promise.resolve()
    lines.push(`${name} ${new TextDecoder().decode(chunk)}`)
  }
  const parts = linkTo((_, nonce) => {
    const texts = left.shift()
    if (texts === undefined) return new Promise<never>(() => {})
    return said(nonce, 'ok', texts.map(encoded).join('\n'))
  })
  const live = new LiveOutput(parts.link, 's-1', {
    onStdout: keep('stdout'),
    onStderr: keep('stderr'),
    onChannel: keep('channel'),
    onPoll: async (isOver) => void lines.push(`poll ${String(isOver)}`),
  })
  return { ...parts, lines, live }
}
/** Listeners that take each piece when they are told to. */
function held() {
  const steps: { readonly name: string; done(): void }[] = []
  const wait = (name: string): Promise<void> => {
    const { promise, resolve } = Promise.withResolvers<void>()
    steps.push({ name, done: resolve })
    return promise
  }
  const take = (name: string) => (chunk: Uint8Array) =>
    wait(`${name} ${new TextDecoder().decode(chunk)}`)
  const listeners = {
    onStdout: take('stdout'),
    onStderr: take('stderr'),
    onChannel: take('channel'),
    onPoll: (isOver: boolean) => wait(`poll ${String(isOver)}`),
  }
  return { steps, listeners }
}
const turns = async (): Promise<void> => {
  for (let turn = 0; turn < 50; turn += 1) await Promise.resolve()
}
const whole = (text: string) => ({ bytes: bytesOf(text), totalBytes: text.length })

describe('the output of a running command', () => {
  it('comes poll by poll, from where the last one ended, and its rest with its end', async () => {
    const { lines, live, ran } = followed([
      ['ab', 'x', 'c1'],
      ['', '', ''],
      ['c', '', ''],
    ])
    const following = live.follow()
    for (let turn = 0; turn < 100; turn += 1) await Promise.resolve()
    expect(ran).toHaveLength(4)
    expect(ran.every(({ call }) => call.deadlineMs === 30_000 && call.isRepeatable)).toBe(true)
    const offsets = ran.map(({ script }) => /k=\S+ (out=.*) piece=/.exec(script)?.[1])
    expect(offsets).toEqual([
      'out=0 err=0 more=0',
      'out=2 err=1 more=2',
      'out=2 err=1 more=2',
      'out=3 err=1 more=2',
    ])
    live.end()
    await following
    await live.finish(
      { stdout: whole('abcd'), stderr: whole('xyz'), channel: whole('c1c2') },
      Infinity,
    )
    expect(lines).toEqual([
      'stdout ab',
      'stderr x',
      'channel c1',
      'poll false',
      'poll false',
      'stdout c',
      'poll false',
      'stdout d',
      'stderr yz',
      'channel c2',
      'poll true',
    ])
  })

  it('is not asked of a channel that nobody reads', async () => {
    const { link, ran } = followed([])
    void new LiveOutput(link, 's-1', {}).follow()
    for (let turn = 0; turn < 20; turn += 1) await Promise.resolve()
    expect(ran[0]?.script).toContain('k=/scratch/s-1 out=0 err=0 more= piece=262144')
  })

  it('waits for whoever listens before it goes on', async () => {
    const { link, ran } = followed([
      ['a', 'b', 'c'],
      ['d', 'e', 'f'],
    ])
    const { steps, listeners } = held()
    const live = new LiveOutput(link, 's-1', listeners)
    const following = live.follow()
    for (const step of ['stdout a', 'stderr b', 'channel c', 'poll false']) {
      await turns()
      expect([steps.map(({ name }) => name), ran.length]).toEqual([[step], 1])
      steps.shift()?.done()
    }
    await turns()
    expect([steps.map(({ name }) => name), ran.length]).toEqual([['stdout d'], 2])
    live.end()
    for (const _ of [1, 2, 3, 4]) {
      steps.shift()?.done()
      await turns()
    }
    await following
    expect(ran).toHaveLength(2)
    let isOver = false
    const outputs = { stdout: whole('adx'), stderr: whole('bey'), channel: whole('cfz') }
    const finishing = live.finish(outputs, Infinity).finally(() => (isOver = true))
    for (const step of ['stdout x', 'stderr y', 'channel z', 'poll true']) {
      await turns()
      expect([steps.map(({ name }) => name), isOver]).toEqual([[step], false])
      steps.shift()?.done()
    }
    await finishing
  })

  it('that is read from its file waits too', async () => {
    const { link, ran } = followed([['abc'], ['def']])
    const { steps, listeners } = held()
    const live = new LiveOutput(link, 's-1', listeners)
    const stderr = { bytes: bytesOf('af'), headBytes: 1, totalBytes: 6, spillPath: '/spilled' }
    const finishing = live.finish({ stdout: whole(''), stderr }, Infinity)
    await turns()
    expect([steps.map(({ name }) => name), ran.length]).toEqual([['stderr abc'], 1])
    steps.shift()?.done()
    await turns()
    expect([steps.map(({ name }) => name), ran.length]).toEqual([['stderr def'], 2])
    steps.shift()?.done()
    await finishing
    expect(ran.map(({ script }) => /offset=(\d+) /.exec(script)?.[1])).toEqual(['0', '3'])
  })

  it('of a command that is over is not asked for', async () => {
    const { live, ran } = followed([])
    live.end()
    await live.follow()
    expect(ran).toEqual([])
  })

  it('without a channel has no last poll', async () => {
    const { lines, live } = followed([])
    await live.finish({ stdout: whole('a'), stderr: whole('') }, Infinity)
    expect(lines).toEqual(['stdout a'])
  })

  it('that was cut is read from the file that has all of it', async () => {
    const cut = { bytes: bytesOf('ad'), headBytes: 1, totalBytes: 6 }
    const { lines, live, ran } = followed([['abc'], ['def']])
    const stdout = { ...cut, spillPath: '/spilled' }
    await live.finish({ stdout, stderr: cut }, Infinity)
    expect(lines).toEqual(['stdout abc', 'stdout def'])
    expect(ran).toHaveLength(2)
    expect(ran[0]?.script).toContain('/spilled')
    expect(ran[0]?.script).not.toEqual(ran[1]?.script)
  })

  it('that was cut ends where its file does, or its time', async () => {
    const stdout = { bytes: bytesOf('ad'), headBytes: 1, totalBytes: 9, spillPath: '/spilled' }
    const short = followed([['abc'], ['']])
    await short.live.finish({ stdout, stderr: whole('') }, Infinity)
    expect(short.lines).toEqual(['stdout abc'])
    const late = followed([['abc']])
    await late.live.finish({ stdout, stderr: whole('') }, late.clock.now())
    expect(late.ran).toEqual([])
    const intime = followed([['abcdefghi']])
    await intime.live.finish({ stdout, stderr: whole('') }, intime.clock.now() + 1)
    expect(intime.lines).toEqual(['stdout abcdefghi'])
  })
})
