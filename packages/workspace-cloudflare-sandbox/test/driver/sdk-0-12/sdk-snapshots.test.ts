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

const failing: Get = () => Promise.reject(new Error(`get https://key:${SECRET}@host/x: (10001)`))

describe('a bucket that cannot be read', () => {
  it('may pass: the container is left as it is', async () => {
    const { snapshots, made } = snapshotsOver(failing)
    const errors = await Promise.all(
      [snapshots.nameOf(snapshot), snapshots.restore(snapshot, '/workspace', limits)].map((one) =>
        one.then(
          () => undefined,
          (error: unknown) => error,
        ),
      ),
    )
    for (const error of errors)
      expect(error).toMatchObject({
        code: 'unavailable',
        admitted: 'yes',
        message: 'the backup bucket could not be read',
        cause: { message: 'get https://host (10001)' },
      })
    expect(inspect(errors, { depth: 9 })).not.toContain(SECRET)
    expect(made).toEqual([])
  })
})

type MeasuredTree = readonly [inodes: number | undefined, path?: string]

/** @param inodes Of the archive, its directory included. @param measured The tree, each time. */
function taking(inodes: number, measured: readonly MeasuredTree[]) {
  const head = new DataView(new ArrayBuffer(8))
  head.setUint32(0, 0x73717368, true)
  head.setUint32(4, inodes, true)
  const asked = [...measured]
  const link = {
    clock: new ManualClock(0),
    ask: async () => {
      const [count, path = '/workspace'] = asked.shift() ?? [0]
      const fields = count === undefined ? [] : [`${count}`, '0', `${count}`]
      return { payload: btoa(path), status: 'measured', fields }
    },
  } as unknown as ContainerLink
  const dirs: string[] = []
  const createBackup = async ({ dir }: { dir: string }): Promise<object> => {
    dirs.push(dir)
    return { id: 'b1' }
  }
  const calls = {
    make: (call: (stub: unknown) => Promise<unknown>) => call({ createBackup }),
  } as unknown as SdkCalls
  const bucket = {
    get: async () => ({ arrayBuffer: async () => head.buffer }),
  } as unknown as R2Bucket
  const snapshots = new SdkSnapshots({ calls, link, isLocal: false, bucket })
  return { dirs, take: () => snapshots.take('/workspace', { ttlSeconds: 100 }) }
}

describe('a snapshot that was taken', () => {
  it('is of where a link leads to', async () => {
    const { dirs, take } = taking(4, [[3, '/tmp/elsewhere']])
    expect(await take()).toMatchObject({ directory: '/workspace', members: 3 })
    expect(dirs).toEqual(['/tmp/elsewhere'])
  })

  it.each(['/workspace', '/home', '/tmp', '/var/tmp', '/app'])('is taken of %s', async (root) => {
    for (const path of [root, `${root}/a`]) {
      const { dirs, take } = taking(4, [[3, path]])
      await take()
      expect(dirs).toEqual([path])
    }
  })

  it.each(['/mnt/elsewhere', '/', '/tmpfs', '/var', '/mnt/tmp'])(
    'is refused of %s, where the platform stores none',
    async (path) => {
      const { dirs, take } = taking(4, [[3, path]])
      await expect(take()).rejects.toMatchObject({
        code: 'snapshot-elsewhere',
        admitted: 'no',
      })
      expect(dirs).toEqual([])
    },
  )

  it.each([
    ['all of the tree', 4, [[3]], true],
    ['more, which came meanwhile', 6, [[3]], true],
    ['less, as some went meanwhile', 3, [[3], [2]], true],
    ['less than the tree ever had', 2, [[3], [3]], false],
    ['the link alone', 2, [[900], [900]], false],
  ] as const)('holds %s', async (_, inodes, measured, isFine) => {
    const taken = await Promise.allSettled([taking(inodes, measured).take()])
    const reason = { code: 'snapshot-failed', admitted: 'yes' }
    const failed = { status: 'rejected', reason }
    expect(taken).toMatchObject([isFine ? { status: 'fulfilled' } : failed])
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
    const damaged = { code: 'snapshot-failed', message: 'the record of the snapshot is damaged' }
    const cause = expect.objectContaining({ name: 'SyntaxError' }) as Error
    const expected = { ...damaged, admitted: 'no', cause }
    await expect(snapshots.nameOf(snapshot)).rejects.toMatchObject(expected)
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

it('a snapshot is asked for with its time, and expires a minute before that', async () => {
  const requests: unknown[] = []
  const clock = new ManualClock(1000)
  const { signal } = new AbortController()
  const asked: unknown[] = []
  const link = {
    clock,
    ask: async (_script: string, call: object) => {
      asked.push(call)
      return { payload: btoa('/workspace'), status: 'measured', fields: ['3', '5', '3'] }
    },
  } as unknown as ContainerLink
  const calls = {
    make: (call: (stub: unknown) => Promise<unknown>, options: object) =>
      call({
        createBackup: async (request: object) => {
          requests.push([request, options])
          return { id: 'b1' }
        },
      }),
  } as unknown as SdkCalls
  const snapshots = new SdkSnapshots({ calls, link, isLocal: true })
  expect(await snapshots.take('/workspace', { ttlSeconds: 100, name: 'n', signal })).toEqual({
    id: 'b1',
    directory: '/workspace',
    expiresAtMs: 41_000,
    local: true,
    members: 3,
    totalBytes: 5,
  })
  expect(requests).toEqual([
    [
      { dir: '/workspace', ttl: 100, name: 'n', localBucket: true },
      { deadlineMs: 900_000, isRepeatable: false, signal },
    ],
  ])
  expect(asked).toEqual([{ deadlineMs: 900_000, isRepeatable: true, signal }])
})

it('a tree that was not counted is taken for empty', async () => {
  const { take } = taking(1, [[undefined], [900]])
  expect(await take()).toMatchObject({ members: 0, totalBytes: 0, local: false })
})

it('a tree that has all that the archive has is measured once', async () => {
  const { take } = taking(4, [[3], [900]])
  expect(await take()).toMatchObject({ members: 3 })
})

it('of a removed snapshot the entry of the index goes last', async () => {
  const deleted: string[] = []
  const bucket = {
    delete: async (key: string) => void deleted.push(key),
    list: async () => ({ objects: [], truncated: false }),
    get: async () => null,
  } as unknown as R2Bucket
  const link = { clock: new ManualClock(0) } as unknown as ContainerLink
  const snapshots = new SdkSnapshots({ calls: {} as SdkCalls, link, isLocal: false, bucket })
  await snapshots.remove({ id: 'b1' }, 'n')
  const record = ['backups/b1/data.sqsh', 'backups/b1/meta.json']
  expect(deleted).toEqual([...record, 'helix-history/n/kept/b1'])
})
