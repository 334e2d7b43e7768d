import { describe, expect, test } from 'vitest'
import {
  digestEntries,
  encodeManifest,
  parseManifest,
  SNAPSHOT_BLOCK_BYTES,
  type SnapshotEntry,
  type SnapshotHeader,
} from '../../src/provider.ts'

const HASH = 'ab'.repeat(32)
const file = (path: string, size = 1): SnapshotEntry => ({
  path,
  type: 'file',
  size,
  blocks: Array.from({ length: Math.ceil(size / SNAPSHOT_BLOCK_BYTES) }, () => HASH),
})
const directory = (path: string): SnapshotEntry => ({ path, type: 'directory' })
const link = (path: string, target: string): SnapshotEntry => ({ path, type: 'symlink', target })

type Changed = Partial<Record<keyof SnapshotHeader, unknown>>

async function headerOf(
  entries: readonly SnapshotEntry[],
  changed: Changed,
): Promise<SnapshotHeader> {
  const bytes = entries.reduce((sum, entry) => sum + (entry.type === 'file' ? entry.size : 0), 0)
  return {
    formatVersion: 1,
    snapshotId: 'snapshot-0123456789',
    createdAt: 1,
    sessionId: 's',
    agentType: 'a',
    workspace: 'w',
    providerId: 'p',
    workspaceId: 'i',
    entries: entries.length,
    bytes,
    digest: await digestEntries(entries),
    ...changed,
  } as SnapshotHeader
}

/** Also what no store would write. */
async function encode(
  entries: readonly SnapshotEntry[],
  changed: Changed = {},
): Promise<Uint8Array> {
  const lines = [await headerOf(entries, changed), ...entries]
  return new TextEncoder().encode(lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
}

const tree = [
  directory('/a'),
  file('/a/b', 2 * SNAPSHOT_BLOCK_BYTES + 1),
  link('/a/l', '../z'),
  file('/z', 0),
]

test('what is encoded is read back', async () => {
  const given = { header: await headerOf(tree, {}), entries: tree }
  const encoded = await encodeManifest(given)
  expect(encoded).toEqual(await encode(tree))
  const manifest = await parseManifest(encoded)
  expect(manifest.entries).toEqual(tree)
  expect(manifest.header).toMatchObject({ entries: 4, bytes: 2 * SNAPSHOT_BLOCK_BYTES + 1 })
})

test('versions of files are no part of the digest, modes are', async () => {
  const plain = await digestEntries([file('/a')])
  expect(await digestEntries([{ ...file('/a'), version: 'v1' } as SnapshotEntry])).toBe(plain)
  expect(await digestEntries([{ ...file('/a'), mode: 0o644 } as SnapshotEntry])).not.toBe(plain)
})

const forgedTrees: readonly (readonly [string, readonly SnapshotEntry[]])[] = [
  ['a path that climbs', [file('/../x')]],
  ['a relative path', [file('xx')]],
  ['a second spelling', [directory('/a'), file('/a//b')]],
  ['the root', [directory('//')]],
  ['a NUL', [file('/a\0b')]],
  ['half a surrogate pair', [file('/\ud800')]],
  ['a path twice', [file('/a'), file('/a')]],
  ['entries out of order', [file('/b'), file('/a')]],
  ['a file below a file', [file('/a'), file('/a/b')]],
  ['a file below a link', [link('/a', 'b'), file('/a/x'), directory('/b')]],
  ['a file without its directory', [file('/a/b')]],
  ['an absolute link', [link('/l', '/etc/passwd')]],
  ['a link past the root', [link('/l', '../x')]],
  ['a deep link past the root', [directory('/a'), link('/a/l', '../../x')]],
  ['a link that climbs behind another link', [link('/l', 'a/../../x')]],
  ['a link with a NUL', [link('/l', 'a\0')]],
]

describe.each(forgedTrees)('a manifest with %s', (_, entries) => {
  test('is rejected', async () => {
    await expect(parseManifest(await encode(entries))).rejects.toMatchObject({
      name: 'SnapshotStoreError',
      code: 'invalid-manifest',
    })
  })
})

const forgedHeaders: readonly Partial<Record<keyof SnapshotHeader | 'extra', unknown>>[] = [
  { formatVersion: 2 },
  { snapshotId: '../../etc/passwd00' },
  { snapshotId: 'short' },
  { entries: 3 },
  { entries: 5 },
  { bytes: 1 },
  { digest: HASH },
  { parent: '../x/0123456789abcdef' },
  { extra: 1 },
  { sessionId: '' },
  { createdAt: -1 },
]

test.each(forgedHeaders)('a header with %j is rejected', async (changed) => {
  await expect(parseManifest(await encode(tree, changed))).rejects.toMatchObject({
    code: 'invalid-manifest',
  })
})

test('a header that could not be read again is not encoded', async () => {
  const header = await headerOf(tree, { snapshotId: '../../../../outside' })
  await expect(encodeManifest({ header, entries: tree })).rejects.toMatchObject({
    code: 'invalid-manifest',
  })
})

test.each([
  ['', ''],
  ['cut off', '{"formatVersion":1'],
  ['no JSON', 'x\n'],
  ['a prototype key', '{"__proto__":{"formatVersion":1}}\n'],
])('bytes that are %s are rejected', async (_, text) => {
  await expect(parseManifest(new TextEncoder().encode(text))).rejects.toMatchObject({
    code: 'invalid-manifest',
  })
})

test('fewer hashes than blocks are rejected', async () => {
  const short = { ...file('/a', SNAPSHOT_BLOCK_BYTES + 1), blocks: [HASH] } as SnapshotEntry
  await expect(parseManifest(await encode([short]))).rejects.toThrow('line 2, blocks')
})

test('limits hold before the entries are kept', async () => {
  const bytes = await encode(tree)
  await expect(parseManifest(bytes, { maxEntries: 3, maxTotalBytes: 1e9 })).rejects.toThrow(
    'more than 3 entries',
  )
  await expect(parseManifest(bytes, { maxEntries: 9, maxTotalBytes: 9 })).rejects.toThrow(
    'more than 9 bytes',
  )
})
