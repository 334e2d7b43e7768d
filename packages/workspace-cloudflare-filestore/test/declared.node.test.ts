// What is declared and passed to the file store, over the SQLite of Node.
import { noopLogger } from '@helix-agents/core'
import { ManualClock } from '@helix-agents/core/testing'
import { describe, expect, test } from 'vitest'
import { parseFileStoreConfig } from '../src/config.ts'
import { namespaceOwner } from '../src/namespaces/namespace-key.ts'
import { readSettings } from '../src/provider-options.ts'
import { createSnapshotRef, readSnapshotRef } from '../src/ref.ts'
import { NodeStorage } from './node-storage.ts'
import { createProvider, openOptions, session } from './provider-harness.ts'

const invalid = (message: string): unknown =>
  expect.objectContaining({ code: 'config-invalid', message, transient: false })

describe('options', () => {
  const storage = new NodeStorage()
  const most = 32 * 1024 * 1024
  test('have these defaults', () => {
    expect(readSettings({ storage })).toEqual({
      r2Prefix: 'helix',
      inlineThresholdBytes: 4 * 1024 * 1024,
      partBytes: 4 * 1024 * 1024,
      maxBytes: 4096 * 1024 * 1024,
      maxFiles: 250_000,
      maxSnapshots: 16,
      maxWholeReadBytes: most,
      collectionGraceMs: 600_000,
    })
  })
  test('are taken at their bounds', () => {
    const given = {
      r2Prefix: 'p',
      inlineThresholdBytes: most,
      partBytes: most,
      maxBytes: 0,
      maxFiles: 0,
      maxSnapshots: 1,
      maxWholeReadBytes: 0,
      collectionGraceMs: 0,
    }
    expect(readSettings({ storage, ...given })).toEqual(given)
    expect(readSettings({ storage, inlineThresholdBytes: 0, partBytes: 1 })).toMatchObject({
      inlineThresholdBytes: 0,
      partBytes: 1,
    })
  })
  test.each([
    ['inlineThresholdBytes', most + 1, `at most ${most}`],
    ['partBytes', most + 1, `a whole number of bytes from 1 to ${most}`],
    ['partBytes', 0, `a whole number of bytes from 1 to ${most}`],
    ['partBytes', 1.5, `a whole number of bytes from 1 to ${most}`],
    ['maxSnapshots', 0, 'at least 1'],
    ['maxSnapshots', -1, '0 or more, not -1'],
    ['maxBytes', Number.NaN, '0 or more, not NaN'],
    ['maxFiles', -1, '0 or more, not -1'],
    ['maxWholeReadBytes', -1, '0 or more, not -1'],
    ['collectionGraceMs', -1, '0 or more, not -1'],
  ])('%s: %d is refused by name', (name, value, problem) => {
    expect(() => readSettings({ storage, [name]: value })).toThrow(
      invalid(`${name} of the file store: ${problem}`),
    )
  })
  test('name a prefix that leaves room for keys', () => {
    for (const r2Prefix of ['', '/a', 'a/', 'p'.repeat(907), '\uD800']) {
      expect(() => readSettings({ storage, r2Prefix })).toThrow(
        invalid('r2Prefix must be 1 to 906 bytes without a slash at its ends'),
      )
    }
  })
})

const parse = (config: unknown) => () => parseFileStoreConfig(config)

describe('a declaration', () => {
  const kind = 'cloudflare-filestore'
  test('names files of the session, or those that sessions share', () => {
    const own = parseFileStoreConfig({ kind })
    expect(namespaceOwner(own, 's"', 'box')).toEqual({
      key: '["session","s\\"","box"]',
      sessionId: 's"',
    })
    const namespace = 'n'.repeat(256)
    const shared = parseFileStoreConfig({ kind, namespace, shareAcrossSessions: true })
    expect(namespaceOwner(shared, 's', 'box')).toEqual({
      key: `["namespace","${namespace}"]`,
      sessionId: undefined,
    })
    expect(parseFileStoreConfig({ kind, shareAcrossSessions: false })).toMatchObject({ kind })
  })
  test('that shares by accident is refused', () => {
    for (const shareAcrossSessions of [undefined, false]) {
      const config = {
        kind,
        namespace: 'n',
        ...(shareAcrossSessions === false && { shareAcrossSessions }),
      } as const
      expect(() => namespaceOwner(config, 's', 'box')).toThrow(
        expect.objectContaining({
          code: 'sharing-not-declared',
          message: 'workspace "box" names a namespace, which sessions of one object would share',
          hint: 'An operator must set shareAcrossSessions: true next to it, or leave it out.',
        }),
      )
    }
  })
  test('with mistakes names each field', () => {
    expect(parse({ kind, shareAcrossSessions: true })).toThrow(
      invalid('cloudflare-filestore: shareAcrossSessions: needs a namespace to share'),
    )
    expect(parse(7)).toThrow(/^cloudflare-filestore: provider: /)
    expect(parse({ kind: 'other', namespace: '' })).toThrow(/kind: .*; namespace: /)
    expect(parse({ kind, namespace: 'n'.repeat(257) })).toThrow('namespace: ')
    expect(parse({ kind, other: 1 })).toThrow('other')
  })
})

test('a ref of a snapshot is read as it was made, and no other', () => {
  const id = `fs-${'0a'.repeat(16)}`
  const ref = createSnapshotRef(id)
  expect(ref).toEqual({ providerId: 'cloudflare-filestore', ref: { schemaVersion: 1, id } })
  expect(readSnapshotRef(ref)).toBe(id)
  for (const other of [
    { ...ref, providerId: 'other' },
    { ...ref, ref: { schemaVersion: 2, id } },
    { ...ref, ref: { schemaVersion: 1, id: `${id}0` } },
    { ...ref, ref: { schemaVersion: 1, id, more: 1 } },
  ]) {
    expect(() => readSnapshotRef(other)).toThrow(
      expect.objectContaining({
        code: 'ref-invalid',
        message: 'that is not a snapshot of this kind of workspace',
        hint: 'Give the ref as the snapshot tool returned it, whole and unchanged.',
      }),
    )
  }
})

describe('the provider', () => {
  test('offers what its engines do', () => {
    expect(createProvider(new NodeStorage())).toMatchObject({
      providerId: 'cloudflare-filestore',
      refSchemaVersion: 1,
      capabilities: { fs: true, snapshot: true, branch: true },
      toolNotes: {},
    })
  })
  test('has no work for its alarm without garbage, and names its bucket when it is missing', async () => {
    const objects = new Map<string, Uint8Array>()
    const r2 = {
      head: async (key: string) => (objects.has(key) ? {} : null),
      get: async () => null,
      put: async (key: string, value: Uint8Array) => void objects.set(key, value.slice()),
      delete: async (keys: string[]) => keys.forEach((key) => objects.delete(key)),
    }
    const storage = new NodeStorage()
    const clock = new ManualClock(1000)
    const scheduled: number[] = []
    const setup = {
      r2,
      inlineThresholdBytes: 3,
      collectionGraceMs: 50,
      clock,
      logger: noopLogger,
      scheduleCollection: (atMs: number) => void scheduled.push(atMs),
    }
    const provider = createProvider(storage, setup)
    expect(provider.nextCollectionAt()).toBeUndefined()
    const config = { kind: 'cloudflare-filestore' } as const
    const { ws } = await provider.open(config, session, openOptions())
    await ws.fs?.writeFile('/a', 'large')
    expect(new Set(scheduled)).toEqual(new Set([1050]))
    expect([...objects.keys()]).toEqual([expect.stringMatching(/^helix\/fs-\w{32}\/\w{64}\.1$/)])
    await expect(
      createProvider(storage).open(config, session, openOptions()),
    ).rejects.toMatchObject({
      code: 'config-invalid',
      message: 'files of this workspace are in a bucket, and the provider has none',
      hint: 'An operator must pass the bucket as r2 to the provider.',
    })
    await clock.advance(10)
    await ws.fs?.rm('/a')
    expect(scheduled.at(-1)).toBe(1060)
    expect(provider.nextCollectionAt()).toBe(1060)
    expect(await provider.collect(1059)).toEqual({
      contents: 0,
      objects: 0,
      failed: 0,
      nextAt: 1060,
    })
    await clock.advance(50)
    expect(await provider.collect()).toEqual({
      contents: 0,
      objects: 1,
      failed: 0,
      nextAt: undefined,
    })
    expect(objects.size).toBe(0)
  })
})
