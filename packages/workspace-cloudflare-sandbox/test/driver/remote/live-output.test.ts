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
