// What a restore does to a container, in which order, and what it waits for.
import { ManualClock } from '@helix-agents/core/testing'
import { describe, expect, it } from 'vitest'
import type { ContainerLink } from '../../../src/driver/remote/container-link.ts'
import { emptyScript } from '../../../src/driver/script/lifecycle-scripts.ts'
import type { SdkCalls } from '../../../src/driver/sdk-0-12/sdk-calls.ts'
import { SdkSnapshots } from '../../../src/driver/sdk-0-12/sdk-snapshots.ts'

const limits = { maxBytes: 10, maxMembers: 10 }
const snapshot = { id: 'b1', directory: '/workspace', expiresAtMs: 5000, local: false }

const names = (made: readonly unknown[]): unknown[] => made.map((each) => (each as unknown[])[0])

/** @param fields Of each measure: members and bytes. @param inodes Of the archive. */
function restoring(
  fields: readonly (readonly string[])[],
  inodes: number,
  { isTorn = false, isLocal = true, wait = async (): Promise<void> => {} } = {},
) {
  const head = new DataView(new ArrayBuffer(8))
  head.setUint32(0, 0x73717368, true)
  head.setUint32(4, inodes, true)
  const made: unknown[] = []
  const measured = [...fields]
  const link = {
    clock: new ManualClock(0),
    ask: async (script: string, call: object) => {
      made.push([script === emptyScript('/workspace') ? 'empty' : 'measure', call])
      await wait()
      return { payload: '', status: 'measured', fields: measured.shift() ?? ['1', '1', '1'] }
    },
  } as unknown as ContainerLink
  const calls = {
    make: async (call: (stub: unknown) => Promise<unknown>, options: object) =>
      call({
        restoreBackup: async (handle: object) => {
          made.push(['restore', handle, options])
          await wait()
          if (isTorn) throw new Error('torn')
        },
      }),
  } as unknown as SdkCalls
  const bucket = {
    get: async () => ({ arrayBuffer: async () => head.buffer }),
  } as unknown as R2Bucket
  return { made, snapshots: new SdkSnapshots({ calls, link, isLocal, bucket }) }
}

describe('a restore', () => {
  const DEADLINE_MS = 900_000
  const repeatable = { isRepeatable: true, deadlineMs: DEADLINE_MS }
  const emptied = ['empty', repeatable]
  it('empties the place, brings the files, and counts them', async () => {
    const { made, snapshots } = restoring([[], ['10', '10', '0']], 11)
    const { signal } = new AbortController()
    await snapshots.restore(snapshot, '/workspace', { ...limits, signal })
    expect(made).toEqual([
      emptied,
      ['restore', { id: 'b1', dir: '/workspace', localBucket: true }, { ...repeatable, signal }],
      ['measure', { ...repeatable, signal }],
    ])
  })
  it.each([
    ['members', { members: 11 }],
    ['bytes', { totalBytes: 11 }],
  ])('of too many %s is refused before anything is done', async (_, more) => {
    const { made, snapshots } = restoring([], 1)
    const restored = snapshots.restore({ ...snapshot, ...more }, '/workspace', limits)
    await expect(restored).rejects.toMatchObject({ code: 'snapshot-too-large', admitted: 'no' })
    expect(made).toEqual([])
  })
  it('of an archive with too many members is refused before anything is done', async () => {
    const { made, snapshots } = restoring([], 12)
    const restored = snapshots.restore(snapshot, '/workspace', limits)
    await expect(restored).rejects.toMatchObject({ code: 'snapshot-too-large' })
    expect(made).toEqual([])
  })
  it.each([[['11', '1']], [['1', '11']]])('that brought %j is emptied again', async (fields) => {
    const { made, snapshots } = restoring([[], fields], 2)
    const restored = snapshots.restore(snapshot, '/workspace', limits)
    await expect(restored).rejects.toMatchObject({ code: 'snapshot-too-large' })
    expect(names(made)).toEqual(['empty', 'restore', 'measure', 'empty'])
  })
  it('that fails leaves nothing', async () => {
    const { made, snapshots } = restoring([], 2, { isTorn: true })
    await expect(snapshots.restore(snapshot, '/workspace', limits)).rejects.toThrow('torn')
    expect(names(made)).toEqual(['empty', 'restore', 'empty'])
    expect(made.at(-1)).toEqual(emptied)
  })
})

it.each([
  ['works', false, ['empty', 'restore', 'measure']],
  ['fails', true, ['empty', 'restore', 'empty']],
])('each step of a restore that %s waits for the one before it', async (_, isTorn, steps) => {
  const held: (() => void)[] = []
  let isOver = false
  const wait = (): Promise<void> => new Promise((resolve) => void held.push(resolve))
  const { made, snapshots } = restoring([], 2, { isTorn, isLocal: false, wait })
  const restored = snapshots
    .restore(snapshot, '/workspace', limits)
    .then(
      () => false,
      () => true,
    )
    .finally(() => (isOver = true))
  for (const [index] of steps.entries()) {
    for (let turn = 0; turn < 50; turn += 1) await Promise.resolve()
    expect([names(made), held.length, isOver]).toEqual([steps.slice(0, index + 1), 1, false])
    held.shift()?.()
  }
  expect(await restored).toBe(isTorn)
  expect((made[1] as unknown[])[1]).toEqual({ id: 'b1', dir: '/workspace' })
})

it('a snapshot of nothing fits where nothing is allowed', async () => {
  const nothing = { maxBytes: 0, maxMembers: 0 }
  for (const fields of [['0', '0', '0'], []]) {
    const { made, snapshots } = restoring([[], fields], 1)
    await snapshots.restore(snapshot, '/workspace', nothing)
    expect(names(made)).toEqual(['empty', 'restore', 'measure'])
  }
})
