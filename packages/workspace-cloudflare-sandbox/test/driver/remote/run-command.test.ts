// One command: what is run for it, and what is made of its report.
import { describe, expect, it } from 'vitest'
import type { ExecOptions } from '../../../src/driver/port.ts'
import { runCommand } from '../../../src/driver/remote/run-command.ts'
import { Slots } from '../../../src/driver/remote/slots.ts'
import { linkTo, said } from './link-to.ts'

const base: ExecOptions = { cwd: '/workspace', maxOutputBytes: 10.9, spillDirectory: '/spill' }
const NOTES = 'plain 3 3 0 0 plain 0 0 0 0'
const ended = (nonce: string, timedOut = '0', exitCode = '0', notes = NOTES) =>
  said(nonce, `ended ${exitCode} ${timedOut} 12 e7 ${notes}`, 'out\n\n')

function commandOn(answer: Parameters<typeof linkTo>[0]) {
  const parts = linkTo(answer)
  parts.link.epoch = 'e7'
  const slots = new Slots('x')
  const run = (options: Partial<ExecOptions> = {}) =>
    runCommand(parts.link, slots, { argv: ['x'], options: { ...base, ...options } })
  return { ...parts, slots, run }
}

const isStop = (script: string): boolean => !script.includes('hx_most')

describe('a command', () => {
  it('has its report, and its files are used again', async () => {
    const { ran, run } = commandOn((_, nonce) => ended(nonce, '0', '7'))
    expect(await run({ env: { A: 'b' } })).toEqual({
      exitCode: 7,
      timedOut: false,
      aborted: false,
      durationMs: 12,
      epoch: 'e7',
      stdout: { bytes: new Uint8Array(Buffer.from('out')), totalBytes: 3 },
      stderr: { bytes: new Uint8Array(), totalBytes: 0 },
    })
    await run()
    expect(ran.map(({ script }) => /hx_slot=(\S+)/.exec(script)?.[1])).toEqual(['s-x-0', 's-x-0'])
    const start = 'n=0002 d=/scratch hx_slot=s-x-0 hx_grace=1000 hx_want=e7 hx_most=10'
    expect(ran[0]?.script).toContain(`${start} hx_spill=/spill hx_live= hx_channel=`)
    expect(ran[0]?.script).toContain("hx_variables=('A=b' 'HELIX_WS_PROCESS=0002')")
  })
  it.each([
    [undefined, 86_430_000, ''],
    [5, 30_005, '5000'],
    [2 * 86_400_000, 86_430_000, '172800000000'],
  ])('with %s ms has a call of %d ms', async (timeoutMs, deadlineMs, limit) => {
    const { ran, run } = commandOn((_, nonce) => ended(nonce))
    await run(timeoutMs === undefined ? {} : { timeoutMs })
    expect(ran[0]?.call).toEqual({ deadlineMs, isRepeatable: false })
    expect(/hx_limit=(\d*) /.exec(ran[0]?.script ?? '')?.[1]).toBe(limit)
  })
  it('whose whole output is stored says where', async () => {
    const notes = 'plain 3 9 1 1 plain 0 0 0 0'
    const { run } = commandOn((_, nonce) => ended(nonce, '0', '0', notes))
    expect((await run()).stdout).toMatchObject({
      totalBytes: 9,
      headBytes: 1,
      spillPath: '/spill/s-x-0-0002.stdout',
    })
  })
  it('that ran out of time has a second to bring its last output', async () => {
    const heard: string[] = []
    const { run } = commandOn(({ script }, nonce) =>
      script.includes('hx_most') ? ended(nonce, '1') : new Promise(() => {}),
    )
    const onStdout = async (piece: Uint8Array): Promise<void> => {
      heard.push(Buffer.from(piece).toString())
    }
    expect(await run({ onStdout })).toMatchObject({ timedOut: true })
    expect(heard).toEqual(['out'])
  })
  it('that ran out of time keeps its files to itself', async () => {
    const { ran, run } = commandOn((_, nonce) => ended(nonce, '1'))
    expect(await run()).toMatchObject({ exitCode: 124, timedOut: true, aborted: false })
    await run()
    expect(ran[1]?.script).toContain('hx_slot=s-x-1 ')
  })
  it.each([
    ['scratch', 'storage-full', 'no', 'the container has no room for the outputs of a command'],
    ['cold', 'interrupted', 'no', 'the container was started anew and its files are gone'],
    ['directory missing', 'directory-missing', 'no', 'the working directory does not exist'],
  ])('for the answer %s is %s', async (line, code, admitted, message) => {
    const { run } = commandOn((_, nonce) => said(nonce, line))
    await expect(run()).rejects.toMatchObject({
      code,
      admitted,
      message: expect.stringContaining(message) as string,
    })
  })
})

describe('a command whose script was ended', () => {
  it.each([
    [0, '137'],
    [143, '143'],
  ])('with %d is collected with %s', async (exitCode, known) => {
    const { ran, run } = commandOn(({ script }, nonce) =>
      script.includes('hx_channel= r=')
        ? ended(nonce, '0', known)
        : { stdout: 'torn', stderr: '', exitCode },
    )
    expect((await run()).exitCode).toBe(Number(known))
    expect(ran[1]?.script).toContain(`hx_channel= r=${known}\n`)
    expect(ran[1]?.script).toContain('n=0002 d=/scratch hx_slot=s-x-0 ')
    // What was lost may still answer: its own proof is no proof of this.
    expect(ran[1]?.script).toContain('%%0003 ')
    expect(ran[1]?.call).toEqual({ deadlineMs: 30_000, isRepeatable: true })
  })
  it('and left nothing was lost', async () => {
    const { run } = commandOn((_, nonce) => said(nonce, 'gone'))
    const torn = commandOn(({ script }, nonce) =>
      script.includes('hx_channel= r=')
        ? said(nonce, 'gone')
        : { stdout: '', stderr: '', exitCode: 1 },
    )
    await expect(torn.run()).rejects.toMatchObject({
      code: 'interrupted',
      admitted: 'unknown',
      message: 'the command was lost before it could report',
    })
    await expect(run()).rejects.toMatchObject({ code: 'failed' })
  })
})

/** A live command: its run, its polls, and what stops it. */
type Parts = 'run' | 'poll' | 'stop'
const partOf = (script: string): Parts => {
  if (script.includes('hx_most')) return 'run'
  return script.includes('piece=') ? 'poll' : 'stop'
}
const polled = (nonce: string, ...texts: readonly string[]) =>
  said(nonce, 'ok', texts.map((text) => Buffer.from(text).toString('base64')).join('\n'))

describe('a command with listeners', () => {
  it('has what it wrote while it ran, and what its end brings', async () => {
    const heard: string[] = []
    const hear = (name: string) => async (piece: Uint8Array) => {
      heard.push(`${name} ${Buffer.from(piece).toString()}`)
    }
    const over = Promise.withResolvers<void>()
    const { link, ran, slots } = commandOn(async ({ script }, nonce) => {
      if (partOf(script) === 'poll') {
        if (heard.length > 0) return (over.resolve(), new Promise(() => {}))
        return polled(nonce, 'o', 'e', 'c')
      }
      await over.promise
      return said(
        nonce,
        `ended 0 0 1 e7 plain 3 3 0 0 plain 2 2 0 0 plain 2 2 0 0`,
        'out\nee\ncc\n',
      )
    })
    const options = { ...base, onStdout: hear('stdout'), onStderr: hear('stderr') }
    const onPoll = async (isOver: boolean) => void heard.push(`poll ${isOver}`)
    const channel = { maxBytes: 99, onPiece: hear('channel'), onPoll }
    const outcome = await runCommand(link, slots, { argv: ['x'], options, channel })
    expect(outcome.channel?.bytes).toHaveLength(2)
    expect(heard).toEqual([
      'stdout o',
      'stderr e',
      'channel c',
      'poll false',
      'stdout ut',
      'stderr e',
      'channel c',
      'poll true',
    ])
    expect(ran[0]?.script).toContain('hx_live=1 hx_channel=99')
  })
  it.each(['onStdout', 'onStderr'] as const)(
    'of %s alone is live, in files of its own',
    async (name) => {
      const { ran, run } = commandOn(({ script }, nonce) =>
        partOf(script) === 'run' ? ended(nonce) : new Promise(() => {}),
      )
      await run()
      await run({ [name]: async () => {} })
      await run()
      const runs = ran.filter(({ script }) => partOf(script) === 'run')
      expect(
        runs.map(({ script }) => /hx_slot=(\S+) .*hx_live=(\S*) /.exec(script)?.slice(1)),
      ).toEqual([
        ['s-x-0', ''],
        ['s-x-1', '1'],
        ['s-x-0', ''],
      ])
    },
  )
  it('that cannot be listened to is stopped, and fails with that', async () => {
    const stopped = Promise.withResolvers<void>()
    const { ran, run } = commandOn(async ({ script }, nonce) => {
      const part = partOf(script)
      if (part === 'poll') throw new Error('lost')
      if (part === 'run') await stopped.promise
      else stopped.resolve()
      return ended(nonce, '0', '143')
    })
    await expect(run({ onStdout: async () => {} })).rejects.toThrow('lost')
    expect(ran.map(({ script }) => partOf(script))).toEqual(['run', 'poll', 'stop'])
  })
  it('is over once it was stopped', async () => {
    const stopped = Promise.withResolvers<void>()
    let isOver = false
    const { run } = commandOn(async ({ script }, nonce) => {
      const part = partOf(script)
      if (part === 'poll') throw new Error('lost')
      if (part === 'stop') await stopped.promise
      return ended(nonce, '0', '143')
    })
    const running = run({ onStdout: async () => {} })
      .catch((error: unknown) => error)
      .finally(() => (isOver = true))
    for (let turn = 0; turn < 100; turn += 1) await Promise.resolve()
    expect(isOver).toBe(false)
    stopped.resolve()
    expect(await running).toMatchObject({ message: 'lost' })
  })
  it('that fails itself says why, also when nobody can listen', async () => {
    const { run } = commandOn(async ({ script }, nonce) => {
      if (partOf(script) === 'poll') throw new Error('lost')
      return said(nonce, 'scratch')
    })
    await expect(run({ onStdout: async () => {} })).rejects.toMatchObject({ code: 'storage-full' })
  })
  it.each([
    ['1', 999, 2],
    ['1', 1000, 1],
    ['0', 1000, 2],
  ])(
    'ended by its time %s, %d ms a piece: %d pieces of what is left',
    async (timedOut, ms, pieces) => {
      let heard = 0
      const { clock, run } = commandOn(({ script }, nonce) => {
        if (partOf(script) === 'run') {
          return ended(nonce, timedOut, '0', 'plain 3 6 1 1 plain 0 0 0 0')
        }
        return script.includes('offset=') ? said(nonce, 'piece', 'YWJj') : new Promise(() => {})
      })
      const onStdout = async (): Promise<void> => {
        heard += 1
        await clock.advance(ms)
      }
      await run({ onStdout })
      expect(heard).toBe(pieces)
    },
  )
})

describe('an abort', () => {
  it('before the command runs nothing', async () => {
    const { ran, run } = commandOn((_, nonce) => ended(nonce))
    const signal = AbortSignal.abort(new Error('stopped'))
    await expect(run({ signal })).rejects.toThrow('stopped')
    expect(ran).toEqual([])
  })
  it('stops the command, and waits until that is done', async () => {
    const abort = new AbortController()
    const stopped = Promise.withResolvers<void>()
    let isOver = false
    const { ran, run } = commandOn(async ({ script }, nonce) => {
      if (isStop(script)) {
        await stopped.promise
        return said(nonce, 'ok')
      }
      abort.abort(new Error('stopped'))
      return ended(nonce, '0', '143')
    })
    const running = run({ signal: abort.signal }).finally(() => (isOver = true))
    for (let turn = 0; turn < 50; turn += 1) await Promise.resolve()
    expect(isOver).toBe(false)
    stopped.resolve()
    expect(await running).toMatchObject({ exitCode: 143, aborted: true, timedOut: false })
    expect(ran[1]?.script).toContain('n=0002 d=/scratch hx_slot=s-x-0 ')
    expect(ran[1]?.script).toContain('%%0003 ')
    expect(ran[1]?.call).toEqual({ deadlineMs: 30_000, isRepeatable: true })
    await run()
    expect(ran[2]?.script).toContain('hx_slot=s-x-1 ')
  })
  it('of one that ran out of time is none, and one that cannot be stopped reports itself', async () => {
    const abort = new AbortController()
    const { run } = commandOn(async ({ script }, nonce) => {
      if (isStop(script)) throw new Error('lost')
      abort.abort(new Error('stopped'))
      return ended(nonce, '1')
    })
    expect(await run({ signal: abort.signal })).toMatchObject({ aborted: false, timedOut: true })
  })
  it('after the command changes nothing', async () => {
    const abort = new AbortController()
    const { ran, run } = commandOn((_, nonce) => ended(nonce))
    await run({ signal: abort.signal })
    abort.abort(new Error('too late'))
    await Promise.resolve()
    expect(ran).toHaveLength(1)
  })
})
