import { env } from 'cloudflare:workers'
import type { FileSystem, Workspace } from '@helix-agents/core/provider'
import { expect, test } from 'vitest'
import { bucketFaults, databaseFaults } from '../crash/audit.ts'
import { inObject } from '../objects.ts'
import { createProvider, openOptions } from '../provider-harness.ts'

const SHARED = { namespace: 'team', shareAcrossSessions: true }

test('nothing of any session or shared namespace stays, in the database or the bucket', async () => {
  await inObject(async (storage) => {
    const r2Prefix = 'deleted'
    const asked: number[] = []
    const provider = createProvider(storage, {
      r2: env.BUCKET,
      r2Prefix,
      inlineThresholdBytes: 10,
      scheduleCollection: (atMs) => asked.push(atMs),
    })
    const open = async (sessionId: string, config: object = {}): Promise<Workspace> => {
      const declared = { kind: 'cloudflare-filestore', ...config } as const
      const owner = { sessionId, agentType: 'tester' }
      return (await provider.open(declared, owner, openOptions())).ws
    }
    const all = [await open('one'), await open('other'), await open('one', SHARED)]
    const files = all.map((ws) => ws.fs as FileSystem)
    for (const fs of files) {
      await fs.writeFile('/large', 'x'.repeat(100))
      await fs.writeFile('/d/small', 'x')
      await fs.copy('/large', '/d/copy')
    }
    await (await open('one', SHARED)).close()
    expect((await env.BUCKET.list({ prefix: r2Prefix })).objects).toHaveLength(3)
    const reader = (await (files[2] as FileSystem).readStream('/large')).getReader()

    asked.length = 0
    await provider.deleteNamespaces()
    expect(asked.length).toBeGreaterThan(0)
    for (const fs of files) {
      await expect(fs.ls('/')).rejects.toMatchObject({ code: 'lost' })
      await expect(fs.writeFile('/large', 'y')).rejects.toMatchObject({ code: 'lost' })
    }
    await reader.cancel()
    expect(await provider.collect(Number.MAX_SAFE_INTEGER)).toMatchObject({
      objects: 3,
      failed: 0,
      nextAt: undefined,
    })
    expect(databaseFaults(storage)).toEqual([])
    expect(await bucketFaults(storage, env.BUCKET, r2Prefix)).toEqual([])
    expect(storage.sql.exec('SELECT * FROM helix_fs_namespaces').toArray()).toEqual([])

    await provider.deleteNamespaces()
    expect(await ((await open('one', SHARED)).fs as FileSystem).ls('/')).toEqual([])
  })
})
