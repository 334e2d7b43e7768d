// The alarm is asked for inside the transaction that makes the garbage: real alarms stand that.
import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import type { FileSystem } from '@helix-agents/core/provider'
import { inObject } from '../objects.ts'
import { createProvider, openOptions, session } from '../provider-harness.ts'

test('a real alarm is set with the change, and only the earliest', async () => {
  await inObject(async (storage) => {
    const asked: number[] = []
    const provider = createProvider(storage, {
      r2: env.BUCKET,
      inlineThresholdBytes: 10,
      collectionGraceMs: 3_600_000,
      scheduleCollection: (atMs) => {
        asked.push(atMs)
        void storage.setAlarm(Math.min(...asked))
      },
    })
    const { ws } = await provider.open({ kind: 'cloudflare-filestore' }, session, openOptions())
    const fs = ws.fs as FileSystem
    await fs.mkdir('/d')
    expect(await storage.getAlarm()).toBeNull()
    await fs.writeFile('/d/a', 'content for the bucket')
    expect(await storage.getAlarm()).toBe(asked[0])
    await storage.deleteAlarm()
    await fs.rm('/d', { recursive: true })
    expect(await storage.getAlarm()).toBe(asked[0])
    expect(provider.nextCollectionAt()).toBeGreaterThanOrEqual(asked[0]!)
    expect(await fs.ls('/')).toEqual([])
  })
})

test('what is only held counts: its isolate may end without a word', async () => {
  await inObject(async (storage) => {
    const asked: number[] = []
    const provider = createProvider(storage, { scheduleCollection: (atMs) => asked.push(atMs) })
    const { ws } = await provider.open({ kind: 'cloudflare-filestore' }, session, openOptions())
    const fs = ws.fs as FileSystem
    await fs.writeFile('/a', 'x'.repeat(100_000))
    const reader = (await fs.readStream('/a')).getReader()
    await fs.rm('/a')
    expect(asked).toHaveLength(1)
    expect((await provider.collect()).nextAt).toBeGreaterThan(Date.now())
    await reader.cancel()
    expect(provider.nextCollectionAt()).toBeUndefined()
  })
})
