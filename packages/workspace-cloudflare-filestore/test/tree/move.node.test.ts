import { expect, test } from 'vitest'
import { NodeStorage } from '../node-storage.ts'
import { createProvider, openOptions, type ProviderSetup, session } from '../provider-harness.ts'

async function open(setup: ProviderSetup) {
  const provider = createProvider(new NodeStorage(), setup)
  const { ws } = await provider.open({ kind: 'cloudflare-filestore' }, session, openOptions())
  if (ws.fs === undefined) throw new Error('no files')
  return ws.fs
}

test('where nothing more fits, files can be moved, but no directory is made for them', async () => {
  const fs = await open({ maxBytes: 4, maxFiles: 2 })
  await fs.mkdir('/d')
  await fs.writeFile('/a', 'full')
  await fs.move('/a', '/b')
  await fs.move('/b', '/d/b')
  expect(await fs.readText?.('/d/b')).toBe('full')
  await expect(fs.move('/d/b', '/new/b')).rejects.toMatchObject({ code: 'storage-full' })
  await fs.move('/d', '/e')
  expect((await fs.stat('/e/b')).size).toBe(4)
})
