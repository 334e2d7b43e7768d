// What a bucket that fails, or holds what it should not, does to a restore.
import { inspect } from 'node:util'
import { ManualClock } from '@helix-agents/core/testing'
import { describe, expect, it } from 'vitest'
import { SdkSnapshots } from '../../../src/driver/sdk-0-12/sdk-snapshots.ts'
import type { SdkCalls } from '../../../src/driver/sdk-0-12/sdk-calls.ts'
import type { ContainerLink } from '../../../src/driver/remote/container-link.ts'

const SECRET = 'sk-planted'
const limits = { maxBytes: 10, maxMembers: 10 }
const EXPIRES_MS = 5000

type Get = (key: string) => Promise<unknown>

function snapshotsOver(get: Get): { snapshots: SdkSnapshots; clock: ManualClock; made: string[] } {
  const made: string[] = []
  const clock = new ManualClock(0)
  const link = {
    clock,
    ask: async () => {
      made.push('ask')
      return { payload: '', status: 'measured', fields: ['1', '1'] }
    },
  } as unknown as ContainerLink
  const calls = { make: async () => void made.push('restore') } as unknown as SdkCalls
  const bucket = { get } as unknown as R2Bucket
  return { snapshots: new SdkSnapshots({ calls, link, isLocal: false, bucket }), clock, made }
}

const snapshot = { id: 'b1', directory: '/workspace', expiresAtMs: EXPIRES_MS, local: false }
const text =
  (content: string): Get =>
  async () => ({ text: async () => content })

const fails: Get = () => Promise.reject(new Error(`get https://key:${SECRET}@host/x: (10001)`))

describe('a bucket that cannot be read', () => {
  it('may pass: the container is left as it is', async () => {
    const { snapshots, made } = snapshotsOver(fails)
    const errors = await Promise.all(
      [snapshots.nameOf(snapshot), snapshots.restore(snapshot, '/workspace', limits)].map((one) =>
        one.then(
          () => undefined,
          (error: unknown) => error,
        ),
      ),
    )
    for (const error of errors)
      expect(error).toMatchObject({ code: 'unavailable', admitted: 'yes' })
    expect(inspect(errors, { depth: 9 })).not.toContain(SECRET)
    expect(made).toEqual([])
  })
})

describe('whose a snapshot is', () => {
  it.each([
    ['{"name":"owner"}', 'owner'],
    ['{"name":null}', undefined],
    ['[]', undefined],
    ['null', undefined],
  ])('%s says %s', async (record, name) => {
    expect(await snapshotsOver(text(record)).snapshots.nameOf(snapshot)).toBe(name)
  })

  it('is not guessed of a damaged record', async () => {
    const { snapshots } = snapshotsOver(text('{"name":"own'))
    await expect(snapshots.nameOf(snapshot)).rejects.toMatchObject({ code: 'snapshot-failed' })
  })
})

it('a snapshot can be restored until the millisecond of its end', async () => {
  const { snapshots, clock, made } = snapshotsOver(async () => null)
  const restore = (): Promise<void> => snapshots.restore(snapshot, '/workspace', limits)
  await clock.advance(EXPIRES_MS - 1)
  await restore()
  const { length } = made
  await clock.advance(1)
  await expect(restore()).rejects.toMatchObject({ code: 'snapshot-expired' })
  expect(made.length).toBe(length)
})
