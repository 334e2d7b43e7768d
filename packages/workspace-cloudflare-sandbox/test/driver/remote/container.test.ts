// What the driver asks of a container and makes of its answers: the answers are those of the scripts.
import { describe, expect, it } from 'vitest'
import { DriverError } from '../../../src/driver/driver-error.ts'
import { ensureEpoch } from '../../../src/driver/remote/ensure-epoch.ts'
import { LARGE_BYTES, LargeFiles } from '../../../src/driver/remote/large-files.ts'
import { runOfAnyLength } from '../../../src/driver/remote/long-script.ts'
import { createNonce } from '../../../src/driver/remote/nonce.ts'
import { Slots } from '../../../src/driver/remote/slots.ts'
import { linkTo, said } from './link-to.ts'

const interrupted = () => new DriverError('interrupted', 'away', { admitted: 'unknown' })

describe('a container that is opened', () => {
  it.each([
    ['e0002', undefined, 'created'],
    ['e7', undefined, 'reattached'],
    ['e7', 'e7', 'reattached'],
    ['e7', 'e6', 'cold'],
    ['e0002', 'e6', 'cold'],
  ])('with the mark %s, known as %s, is %s', async (mark, knownEpoch, outcome) => {
    const { link, ran } = linkTo((_, nonce) => said(nonce, `kept ${mark}`))
    const options = knownEpoch === undefined ? {} : { knownEpoch }
    expect(await ensureEpoch(link, options as never)).toEqual({ outcome, epoch: mark })
    expect(link.epoch).toBe(mark)
    expect(ran[0]?.call).toEqual({ deadlineMs: 60_000, isRepeatable: true, signal: undefined })
  })

  it.each(['full', 'kept', 'full e7'])('that answers %s has no room', async (line) => {
    const { link } = linkTo((_, nonce) => said(nonce, line))
    const message = 'the container has no room for a mark'
    const full = { code: 'storage-full', admitted: 'yes', message }
    await expect(ensureEpoch(link, {} as never)).rejects.toMatchObject(full)
    expect(link.epoch).toBe('')
  })

  it('is asked again while its platform interrupts the calls, four times at most', async () => {
    for (const failures of [3, 4]) {
      let left = failures
      const { clock, link, ran } = linkTo((_, nonce) => {
        left -= 1
        if (left >= 0) throw interrupted()
        return said(nonce, 'kept e7')
      })
      const seen = ensureEpoch(link, {} as never).catch((error: unknown) => error)
      const counts: number[] = []
      for (const ms of [0, 399, 1, 400, 400, 400]) {
        await clock.advance(ms)
        counts.push(ran.length)
      }
      expect(counts).toEqual([1, 1, 2, 3, 4, 4])
      expect(await seen).toMatchObject(failures === 4 ? { code: 'interrupted' } : { epoch: 'e7' })
    }
  })

  it.each([
    [15_000, 2],
    [15_001, 1],
  ])('is asked again after %s ms: %s calls', async (ms, calls) => {
    const parts = linkTo(async () => {
      await parts.clock.sleep(parts.ran.length === 1 ? ms : 0)
      throw interrupted()
    })
    const seen = ensureEpoch(parts.link, {} as never).catch((error: unknown) => error)
    await parts.clock.advance(ms)
    await parts.clock.advance(400)
    expect(parts.ran).toHaveLength(calls)
    await parts.clock.advance(0)
    expect(await seen).toMatchObject({ code: 'interrupted' })
  })

  it('is not asked again when it says what is wrong', async () => {
    const failure = new DriverError('denied', 'no', { admitted: 'yes' })
    for (const thrown of [failure, new Error('odd')]) {
      const { link, ran } = linkTo(() => Promise.reject(thrown))
      await expect(ensureEpoch(link, {} as never)).rejects.toBe(thrown)
      expect(ran).toHaveLength(1)
    }
  })
})

describe('a script on files', () => {
  it('has its deadline, and is not repeated unless that does no harm', async () => {
    const { link, ran } = linkTo((_, nonce) => said(nonce, 'ok a b', 'text'))
    expect(await link.ask('do it')).toEqual({ payload: 'text', status: 'ok', fields: ['a', 'b'] })
    const { signal } = new AbortController()
    await link.ask('do it', { deadlineMs: 7, isRepeatable: true, signal, nonce: '9999' })
    expect(ran.map(({ call }) => call)).toEqual([
      { deadlineMs: 60_000, isRepeatable: false },
      { deadlineMs: 7, isRepeatable: true, signal },
    ])
    expect(ran[1]?.script).toContain('%9999 ')
    expect(ran.every(({ script }) => script.endsWith('do it'))).toBe(true)
  })

  it.each([
    ['fail not-found', 'not-found'],
    ['cold', 'interrupted'],
  ])('that answers %s has failed', async (line, code) => {
    const { link } = linkTo((_, nonce) => said(nonce, line))
    await expect(link.ask('do it')).rejects.toMatchObject({ code })
  })

  it('whose last program complains has failed with what that says', async () => {
    const stderr = 'mv: File exists'
    const complaining = linkTo(() => ({ stdout: '', stderr, exitCode: 1 }))
    await expect(complaining.link.ask('do it')).rejects.toMatchObject({ code: 'exists' })
    const answering = linkTo((_, nonce) => ({ ...said(nonce, 'ok'), stderr, exitCode: 1 }))
    expect(await answering.link.ask('do it')).toMatchObject({ status: 'ok' })
    const killed = linkTo(() => ({ stdout: '', stderr, exitCode: 137 }))
    await expect(killed.link.ask('do it')).rejects.toMatchObject({ code: 'interrupted' })
  })

  it('may refuse links on its way', async () => {
    const { link, ran } = linkTo((_, nonce) => said(nonce, 'ok'))
    const refusing = link.refusingLinks()
    expect(refusing.refusingLinks()).toBe(refusing)
    expect(refusing.largeFiles).toBe(link.largeFiles)
    await link.ask('do it')
    await refusing.ask('do it')
    expect(ran[1]?.script.length).toBeGreaterThan(ran[0]?.script.length ?? Infinity)
    expect(ran[1]?.script).toMatch(/\ndo it$/)
  })
})

describe('a long script', () => {
  const call = { deadlineMs: 5, isRepeatable: false }
  const path = "'/scratch/long.sh'"

  it('goes into a file from 120 001 bytes on', async () => {
    const done = { stdout: 'done', stderr: '', exitCode: 0 }
    const { link, ran, stored } = linkTo(() => done)
    for (const length of [60_000, 60_001]) {
      expect(await runOfAnyLength(link, 'long', 'é'.repeat(length), call)).toBe(done)
    }
    expect(ran.map(({ script }) => script.slice(0, 6))).toEqual(['éééééé', 'exec b'])
    expect(ran.map((one) => one.call)).toEqual([call, call])
    expect(ran[1]?.script).toMatch(/^exec bash --noprofile --norc -- '?\/scratch\/long\.sh'?$/)
    expect(stored).toHaveLength(1)
    expect(stored[0]).toMatchObject({
      path: '/scratch/long.sh',
      call: { deadlineMs: 30_000, isRepeatable: true },
    })
    expect(stored[0]?.text.split('\n')).toEqual([
      expect.stringMatching(/^rm -f -- '?\/scratch\/long\.sh'?$/),
      'é'.repeat(60_001),
    ])
    expect(path).toContain(stored[0]?.path)
  })

  it('runs once it is stored, and has failed once its file is removed', async () => {
    const held: (() => void)[] = []
    const wait = (): Promise<void> => new Promise((resolve) => void held.push(resolve))
    let isOver = false
    const failure = interrupted()
    const { link, ran } = linkTo(async ({ script }) => {
      if (!script.startsWith('rm ')) throw failure
      await wait()
      throw new Error('no')
    })
    Object.assign(link.runner, { store: wait })
    const work = runOfAnyLength(link, 'long', 'x'.repeat(120_001), call)
      .catch((error: unknown) => error)
      .finally(() => (isOver = true))
    for (const calls of [0, 2]) {
      for (let turn = 0; turn < 50; turn += 1) await Promise.resolve()
      expect([ran.length, held.length, isOver]).toEqual([calls, 1, false])
      held.shift()?.()
    }
    expect(await work).toBe(failure)
  })

  it('that fails leaves no file, and fails with its own error', async () => {
    const failure = interrupted()
    const { link, ran } = linkTo(() => Promise.reject(failure))
    const work = runOfAnyLength(link, 'long', 'x'.repeat(120_001), call)
    await expect(work).rejects.toBe(failure)
    expect(ran[1]?.script).toMatch(/^rm -f -- /)
    expect(ran[1]?.call).toEqual({ deadlineMs: 10_000, isRepeatable: true })
  })
})

describe('large files', () => {
  it('are remembered by what was seen last, a thousand at most', () => {
    const files = new LargeFiles()
    for (let n = 0; n < 1000; n += 1) files.record(`/${n}`, LARGE_BYTES)
    files.record('/0', LARGE_BYTES)
    files.record('/2', LARGE_BYTES - 1)
    expect(['/0', '/1', '/2', '/999'].map((path) => files.has(path))).toEqual([
      true,
      true,
      false,
      true,
    ])
    files.record('/a', LARGE_BYTES)
    expect(['/0', '/1', '/a'].map((path) => files.has(path))).toEqual([true, true, true])
    files.record('/b', LARGE_BYTES)
    expect(['/0', '/1', '/3', '/b'].map((path) => files.has(path))).toEqual([
      true,
      false,
      true,
      true,
    ])
  })
})

it('words that are never the same have sixteen digits', () => {
  const words = Array.from({ length: 300 }, createNonce)
  for (const word of words) expect(word).toMatch(/^[0-9a-f]{16}$/)
  expect(new Set(words).size).toBe(300)
})

describe('the names of outputs', () => {
  it('are used again when they are free, but for one that has to be fresh', () => {
    const slots = new Slots('x')
    const [first, second] = [slots.take(false), slots.take(false)]
    expect([first.name, second.name]).toEqual(['s-x-0', 's-x-1'])
    first.giveBack()
    expect(slots.take(true).name).toBe('s-x-2')
    expect(slots.take(false).name).toBe('s-x-0')
    expect(slots.take(false).name).toBe('s-x-3')
  })
})
