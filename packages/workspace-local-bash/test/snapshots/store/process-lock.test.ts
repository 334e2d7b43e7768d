import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, it, vi } from 'vitest'
import { ownMarker } from '../../../src/owner.ts'
import { withProcessLock } from '../../../src/snapshots/store/process-lock.ts'
import { useDirectory } from './store-fixture.ts'

const directory = useDirectory()
const lockPath = (): string => join(directory(), 'lock')
const TOKEN = 'a'.repeat(32)

const { process: own } = ownMarker({ env: {}, sinceMs: 0 })
const dead = { pid: 1, startTime: 1, bootId: 'of an earlier start' }

function placeLock(holder: object | undefined, path = lockPath(), token = TOKEN): void {
  writeFileSync(path, JSON.stringify({ token, process: holder }))
}

/** From the second look on, so much time has passed. */
function passTime(ms: number): void {
  // Whole, so that no sum of it is rounded.
  const startMs = Math.ceil(performance.now())
  let looks = 0
  vi.spyOn(performance, 'now').mockImplementation(() => startMs + (looks++ === 0 ? 0 : ms))
}

describe('the lock of a directory', () => {
  it('says whose it is while it is held, and leaves nothing', async () => {
    const held = await withProcessLock(directory(), async () => ({
      names: readdirSync(directory()),
      mode: statSync(lockPath()).mode & 0o777,
      holder: JSON.parse(readFileSync(lockPath(), 'utf8')),
    }))
    expect(held).toEqual({
      names: ['lock'],
      mode: 0o600,
      holder: { token: expect.stringMatching(/^[0-9a-f]{32}$/), process: own },
    })
    expect(readdirSync(directory())).toEqual([])
  })
  it('is given back by what fails', async () => {
    const failing = withProcessLock(directory(), async () => {
      throw new Error('failed')
    })
    await expect(failing).rejects.toThrow('failed')
    expect(readdirSync(directory())).toEqual([])
  })
  it('is asked for by one caller of this process at a time', async () => {
    const held = Promise.withResolvers<void>()
    const first = withProcessLock(directory(), () => held.promise)
    const second = withProcessLock(directory(), async () => {})
    for (let turn = 0; turn < 20; turn += 1) await nextTurn()
    expect(readdirSync(directory())).toEqual(['lock'])
    held.resolve()
    await Promise.all([first, second])
  })
  it('has callers of this process wait in order, also behind one that fails', async () => {
    const done: string[] = []
    const take = (name: string, fails = false): Promise<string> =>
      withProcessLock(directory(), async () => {
        done.push(`${name} begins`)
        await nextTurn()
        done.push(`${name} ends`)
        if (fails) throw new Error(name)
        return name
      })
    const all = await Promise.allSettled([take('a'), take('b', true), take('c'), take('d')])
    expect(all.map(({ status }) => status)).toEqual([
      'fulfilled',
      'rejected',
      'fulfilled',
      'fulfilled',
    ])
    expect(done).toEqual(['a', 'b', 'c', 'd'].flatMap((name) => [`${name} begins`, `${name} ends`]))
  })
  it('of another directory waits for none', async () => {
    const other = join(directory(), 'other')
    mkdirSync(other)
    const inside = withProcessLock(directory(), () => withProcessLock(other, async () => 'both'))
    expect(await inside).toBe('both')
  })
})

describe('a lock that is there', () => {
  it('of a dead process is broken, and one that breaks it meanwhile too', async () => {
    placeLock(dead)
    placeLock(dead, `${lockPath()}-${TOKEN}`, 'b'.repeat(32))
    expect(await withProcessLock(directory(), async () => readdirSync(directory()))).toEqual([
      'lock',
    ])
    expect(readdirSync(directory())).toEqual([])
  })
  it('of a living process is waited for', async () => {
    placeLock(own)
    let isHeld = false
    const waiting = withProcessLock(directory(), async () => void (isHeld = true))
    for (let turn = 0; turn < 20; turn += 1) await nextTurn()
    expect([isHeld, readdirSync(directory()).length]).toEqual([false, 2])
    rmSync(lockPath())
    await waiting
    expect([isHeld, readdirSync(directory())]).toEqual([true, []])
  })
  it.each([
    ['a living one', own],
    ['one of another host, which may live', { ...dead, place: 'another-host pid:[1]' }],
  ])('of %s is given up after 30 seconds, with what was made for it', async (_, holder) => {
    placeLock(holder)
    passTime(30_001)
    await expect(withProcessLock(directory(), async () => 'held')).rejects.toMatchObject({
      code: 'unavailable',
      message: 'another process holds the store of snapshots',
    })
    expect(readdirSync(directory())).toEqual(['lock'])
  })
  it('is waited for until the end of the 30 seconds', async () => {
    placeLock(own)
    passTime(30_000)
    const waiting = withProcessLock(directory(), async () => 'held')
    for (let turn = 0; turn < 20; turn += 1) await nextTurn()
    rmSync(lockPath())
    expect(await waiting).toBe('held')
  })
  it('of a dead process that a living one is removing is left to that one', async () => {
    placeLock(dead)
    const permit = `${lockPath()}-${TOKEN}`
    placeLock(own, permit, 'b'.repeat(32))
    passTime(30_001)
    await expect(withProcessLock(directory(), async () => 'held')).rejects.toMatchObject({
      code: 'unavailable',
    })
    expect(readdirSync(directory())).toEqual(['lock', `lock-${TOKEN}`])
  })
  it.each([
    'damaged',
    '{}',
    JSON.stringify({ token: 'x', process: dead }),
    JSON.stringify({ token: TOKEN, process: { ...dead, pid: 'x' } }),
  ])('and damaged is an error: %s', async (text) => {
    writeFileSync(lockPath(), text)
    await expect(withProcessLock(directory(), async () => 'held')).rejects.toMatchObject({
      code: 'corrupt',
      message: 'the lock of the store of snapshots is damaged',
      cause: expect.any(Error),
    })
    expect(readdirSync(directory())).toEqual(['lock'])
  })
  it('and no file is the error of the system', async () => {
    mkdirSync(lockPath())
    await expect(withProcessLock(directory(), async () => 'held')).rejects.toMatchObject({
      code: 'EISDIR',
    })
  })
})

it('a directory that is gone has no lock', async () => {
  const gone = join(directory(), 'gone')
  await expect(withProcessLock(gone, async () => 'held')).rejects.toMatchObject({ code: 'ENOENT' })
})
