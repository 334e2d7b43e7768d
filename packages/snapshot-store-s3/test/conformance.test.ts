import { systemClock } from '@helix-agents/core'
import { S3SnapshotStore } from '@helix-agents/snapshot-store-s3'
import { defineConformance } from '@helix-agents/workspace-conformance'
import {
  snapshotStoreBehaviours,
  type SnapshotStoreSubject,
} from '@helix-agents/workspace-conformance/store'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { type LocalBucket, startBucket } from './local-bucket.ts'

let bucket: LocalBucket
let count = 0

beforeAll(async () => {
  bucket = await startBucket()
})
afterAll(() => bucket.close())

/** A store whose time stands still until the suite moves it. */
async function openSubject(): Promise<SnapshotStoreSubject> {
  const time = { nowMs: 1_700_000_000_000 }
  const clock = { ...systemClock, now: () => time.nowMs }
  const prefix = `suite-${++count}/`
  const options = { ...bucket.options, prefix, clock }
  const keyOf = async (part: string): Promise<string> => {
    const keys = await bucket.keys(prefix)
    return keys.find((key) => key.endsWith(part)) ?? ''
  }
  return {
    store: new S3SnapshotStore(options),
    advance: async (ms) => void (time.nowMs += ms),
    reopen: async () => new S3SnapshotStore(options),
    damageBlock: async (hash) =>
      void (await bucket.raw('PUT', await keyOf(`blocks/${hash}`), 'other')),
    damageManifest: async (id) => {
      const key = await keyOf(`manifests/${id}`)
      const text = await (await bucket.raw('GET', key)).text()
      const changed = text.replace(/(?<="blocks":\[")./, (digit) => (digit === '0' ? '1' : '0'))
      await bucket.raw('PUT', key, changed)
    },
  }
}

describe('S3SnapshotStore', () => {
  defineConformance({ it, fails: it.fails }, snapshotStoreBehaviours, {
    create: openSubject,
    offers: ['durable', 'damage'],
  })
})
