// Which backups are kept, whenever the process that takes, lists or removes them dies.
import { ManualClock } from '@helix-agents/core/testing'
import { expect, it } from 'vitest'
import type { ContainerLink } from '../../../src/driver/remote/container-link.ts'
import type { SdkCalls } from '../../../src/driver/sdk-0-12/sdk-calls.ts'
import { BackupIndex } from '../../../src/driver/sdk-0-12/backup-index.ts'
import { SdkSnapshots } from '../../../src/driver/sdk-0-12/sdk-snapshots.ts'
import { MemoryBucket } from './memory-bucket.ts'

const NAME = 'session'
const HOUR_MS = 3_600_000

class Death extends Error {
  override readonly message = 'the process is gone'
}

/** What outlives a process: the bucket, and the SDK, which finishes what it has begun. */
class Platform {
  readonly bucket = new MemoryBucket()
  readonly clock = new ManualClock(1_800_000_000_000)
  #made = 0

  constructor() {
    this.bucket.now = () => this.clock.now()
  }

  /** A new process. @param fatal Number of the point at which it dies. */
  process(fatal = Infinity): { snapshots: SdkSnapshots; passed: () => number } {
    let passed = 0
    const pass = (): void => {
      passed += 1
      if (passed >= fatal) throw new Death()
    }
    this.bucket.onCall = pass
    const measured = { payload: btoa('/workspace'), status: 'measured', fields: ['0', '0', '0'] }
    const link = { clock: this.clock, ask: async () => measured } as unknown as ContainerLink
    const stub = { createBackup: async ({ name }: { name: string }) => this.#backUp(name) }
    const calls = {
      make: async (call: (given: unknown) => Promise<unknown>) => {
        pass()
        const made = await call(stub)
        pass()
        return made
      },
    } as unknown as SdkCalls
    const bucket = this.bucket.binding
    return {
      snapshots: new SdkSnapshots({ calls, link, isLocal: true, bucket }),
      passed: () => passed,
    }
  }

  get keys(): readonly string[] {
    return [...this.bucket.objects.keys()]
  }

  #backUp(name: string): { id: string } {
    this.#made += 1
    const id = `b${this.#made}`
    this.bucket.put(`backups/${id}/data.sqsh`, '')
    this.bucket.put(`backups/${id}/meta.json`, JSON.stringify({ id, name }))
    return { id }
  }
}

const take = (snapshots: SdkSnapshots, keptAtMs?: number) =>
  snapshots.take('/workspace', {
    ttlSeconds: 1000,
    name: NAME,
    ...(keptAtMs !== undefined && { keptAtMs }),
  })

async function removeAll(platform: Platform): Promise<void> {
  const { snapshots } = platform.process()
  for (const { backup } of await snapshots.listKept(NAME)) await snapshots.remove(backup, NAME)
}

it('lists what is kept under a name as it was taken, and nothing else', async () => {
  const platform = new Platform()
  const { snapshots } = platform.process()
  const [first, second, third] = [
    await take(snapshots, 1),
    await take(snapshots, 2),
    await take(snapshots, 3),
  ]
  await take(snapshots)
  const other = { ttlSeconds: 1000, name: 'other', keptAtMs: 4 }
  await snapshots.take('/workspace', other)
  expect(await snapshots.listKept(NAME)).toEqual([
    { takenAtMs: 1, backup: first },
    { takenAtMs: 2, backup: second },
    { takenAtMs: 3, backup: third },
  ])
  expect(await snapshots.nameOf(first)).toBe(NAME)
  await snapshots.remove(second, NAME)
  expect((await snapshots.listKept(NAME)).map(({ takenAtMs }) => takenAtMs)).toEqual([1, 3])
})

it('without a bucket there is nothing to list', async () => {
  const link = { clock: new ManualClock(0) } as unknown as ContainerLink
  const bare = new SdkSnapshots({ link, calls: {} as SdkCalls, isLocal: true })
  expect(await bare.listKept(NAME)).toEqual([])
})

const OPERATIONS = {
  take: (snapshots: SdkSnapshots) => take(snapshots, 9),
  remove: async (snapshots: SdkSnapshots) => {
    const [first] = await snapshots.listKept(NAME)
    if (first !== undefined) await snapshots.remove(first.backup, NAME)
  },
}

async function prepared(): Promise<Platform> {
  const platform = new Platform()
  const { snapshots } = platform.process()
  await take(snapshots, 1)
  await take(snapshots, 2)
  platform.bucket.put('backups/x/meta.json', JSON.stringify({ name: 'other.1' }))
  return platform
}

it.each(['take', 'remove'] as const)(
  'a death at any call of %s leaves what is listed',
  async (name) => {
    const whole = await prepared()
    const undisturbed = whole.process()
    await OPERATIONS[name](undisturbed.snapshots)
    const count = undisturbed.passed()
    expect(count).toBeGreaterThan(5)
    for (let fatal = 1; fatal <= count; fatal += 1) {
      const platform = await prepared()
      await expect(OPERATIONS[name](platform.process(fatal).snapshots)).rejects.toThrow(
        /gone|could not be read/,
      )
      const { snapshots } = platform.process()
      const kept = (await snapshots.listKept(NAME)).map(({ takenAtMs }) => takenAtMs)
      expect(kept).toEqual(expect.arrayContaining(name === 'take' ? [1, 2] : [2]))
      await removeAll(platform)
      const left = platform.keys.filter((key) => key !== 'backups/x/meta.json')
      expect([fatal, left.filter((key) => key.startsWith('backups/'))]).toEqual([fatal, []])
      await platform.clock.advance(HOUR_MS)
      await removeAll(platform)
      expect([fatal, platform.keys]).toEqual([fatal, ['backups/x/meta.json']])
    }
  },
)

it('finds a backup that the platform finishes after its caller died', async () => {
  const platform = new Platform()
  await expect(take(platform.process(3).snapshots, 1)).rejects.toThrow(Death)
  await removeAll(platform)
  const [key = ''] = platform.keys
  const mark = key.split('/').at(-1)
  platform.bucket.put('backups/late/meta.json', JSON.stringify({ name: `${NAME}.${mark}` }))
  const nobodys = { id: 'late', directory: '/', expiresAtMs: 0, local: false }
  const lost = [{ takenAtMs: 0, backup: nobodys }]
  expect(await platform.process().snapshots.listKept(NAME)).toEqual(lost)
  await removeAll(platform)
  await platform.clock.advance(HOUR_MS)
  await removeAll(platform)
  expect(platform.keys).toEqual([])
})

it('passes over records that are damaged', async () => {
  const platform = new Platform()
  await expect(take(platform.process(3).snapshots, 1)).rejects.toThrow(Death)
  for (const [index, text] of ['{', 'null', '{"name":1}'].entries())
    platform.bucket.put(`backups/d${index}/meta.json`, text)
  platform.bucket.put(`helix-history/${NAME}/kept/d`, '', { customMetadata: { snapshot: '{' } })
  expect(await platform.process().snapshots.listKept(NAME)).toEqual([])
})

/** A bucket with one announcement, and so many pages of backups that are none. */
function paged(pages: number, uploaded: Date) {
  const queries: R2ListOptions[] = []
  const deleted: string[] = []
  const list = async (query: R2ListOptions): Promise<object> => {
    queries.push(query)
    if (query.prefix !== 'backups/') {
      const objects = [{ key: 'helix-history/session/begun/m', uploaded }]
      return { objects, truncated: false }
    }
    const page = Number(query.cursor ?? 1)
    return page < pages
      ? { objects: [], truncated: true, cursor: `${page + 1}` }
      : { objects: [], truncated: false, cursor: 'none' }
  }
  const remove = async (key: string): Promise<void> => void deleted.push(key)
  return { bucket: { list, delete: remove } as unknown as R2Bucket, deleted, queries }
}

it.each([
  [200, 1_800_001, 201, 1],
  [201, 1_800_001, 201, 0],
  [1, 1_800_000, 2, 0],
])(
  'of %d pages, what was begun %d ms ago: %d are read, %d forgotten',
  async (pages, ageMs, read, forgotten) => {
    const clock = new ManualClock()
    const { bucket, deleted, queries } = paged(pages, new Date(clock.now() - ageMs))
    expect(await new BackupIndex(bucket, clock).list(NAME)).toEqual([])
    const common = { include: ['customMetadata'] }
    expect(queries[0]).toEqual({ prefix: 'helix-history/session/', ...common })
    expect(queries[1]).toEqual({ prefix: 'backups/', ...common })
    expect(queries.at(-1)?.cursor).toBe(read === 2 ? undefined : '200')
    expect([queries.length, deleted.length]).toEqual([read, forgotten])
  },
)

it('what the bucket is asked for is waited for, step by step', async () => {
  const waiting: { readonly name: string; letGo(): void }[] = []
  const wait = (name: string) => () =>
    new Promise<void>((resolve) => void waiting.push({ name, letGo: resolve }))
  const clock = new ManualClock()
  const { bucket } = paged(1, new Date(clock.now() - HOUR_MS))
  Object.assign(bucket, { put: wait('put'), delete: wait('delete') })
  const index = new BackupIndex(bucket, clock)
  const backup = { id: 'b1', directory: '/workspace', expiresAtMs: 5, local: false }
  const operations: (readonly [() => Promise<unknown>, ...steps: readonly string[]])[] = [
    [() => index.begin(NAME), 'put'],
    [() => index.finish(NAME, `${NAME}.m`, { takenAtMs: 1, backup }), 'put', 'delete'],
    [() => index.forget(NAME, 'b1'), 'delete'],
    [() => index.list(NAME), 'delete'],
  ]
  for (const [act, ...steps] of operations) {
    let isOver = false
    const done = act().finally(() => (isOver = true))
    for (const step of steps) {
      for (let turn = 0; turn < 50; turn += 1) await Promise.resolve()
      expect([waiting.map(({ name }) => name), isOver]).toEqual([[step], false])
      waiting.shift()?.letGo()
    }
    await done
  }
})

it('what was begun is forgotten once it is kept', async () => {
  const bucket = new MemoryBucket()
  const index = new BackupIndex(bucket.binding, new ManualClock())
  const marked = await index.begin(NAME)
  expect(marked).toMatch(/^session\.[^.]+$/)
  const [begun = ''] = bucket.objects.keys()
  expect(begun).toBe(`helix-history/session/begun/${marked.slice(NAME.length + 1)}`)
  const backup = { id: 'b1', directory: '/workspace', expiresAtMs: 5, local: false }
  await index.finish(NAME, marked, { takenAtMs: 1, backup })
  expect([...bucket.objects.keys()]).toEqual(['helix-history/session/kept/b1'])
  expect(bucket.objects.has(begun)).toBe(false)
  await index.forget(NAME, 'b1')
  expect(bucket.objects.size).toBe(0)
})
