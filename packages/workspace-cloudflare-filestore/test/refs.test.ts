// Every ref that a release has ever written must be read. Add, never change.
import type { WorkspaceRef } from '@helix-agents/core/provider'
import { describe, expect, test } from 'vitest'
import { inObject } from './objects.ts'
import { createProvider, openOptions, session } from './provider-harness.ts'

const capabilities = { fs: true }
const providerId = 'cloudflare-filestore'
const id = 'fs-00112233445566778899aabbccddeeff'

const corpus: readonly WorkspaceRef[] = [
  { providerId, schemaVersion: 1, capabilities, ref: { id } },
  {
    providerId,
    schemaVersion: 1,
    capabilities: { fs: true, snapshot: true, branch: true },
    ref: { id },
  },
]

const damaged: readonly unknown[] = [
  { id: id.toUpperCase() },
  { id: `${id}0` },
  { id: 'fs-' },
  { id: ['fs-00112233445566778899aabbccddeeff'] },
  { id, key: 'other' },
  {},
  null,
]

async function resolve(ref: WorkspaceRef, isThere: boolean): Promise<string> {
  return inObject(async (storage) => {
    const provider = createProvider(storage)
    provider.nextCollectionAt()
    if (isThere) {
      const values = `(7, '${id}', 'any', 'workspace', '${id}', '"${session.sessionId}"', 0, 0, 0, 0)`
      storage.sql.exec(`INSERT INTO helix_fs_namespaces VALUES ${values}`)
    }
    const { receipt } = await provider.resolve(ref, { ...openOptions(), session })
    return receipt.outcome
  })
}

describe.each(corpus)('the ref %j', (ref) => {
  test('is read', async () => {
    expect(await resolve(ref, true)).toBe('reattached')
  })

  test('of removed files says so', async () => {
    await expect(resolve(ref, false)).rejects.toMatchObject({ code: 'lost' })
  })
})

test.each(damaged)('the payload %j is refused', async (payload) => {
  const ref = { providerId, schemaVersion: 1, capabilities, ref: payload }
  await expect(resolve(ref, true)).rejects.toMatchObject({ code: 'ref-invalid' })
})

test.each([-1, 3, 99])('the version %i is refused', async (schemaVersion) => {
  const ref = { providerId, schemaVersion, capabilities, ref: { id } }
  const code = schemaVersion < 0 ? 'ref-invalid' : 'ref-version'
  await expect(resolve(ref, true)).rejects.toMatchObject({ code })
})
