// Manifests that share most entries with one before, beside what encoding each entry alone gives.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  digestEntries,
  encodeManifest,
  encodeManifestParts,
  sha256,
  type SnapshotEntry,
  type SnapshotHeader,
} from '../../src/provider.ts'

const header: SnapshotHeader = {
  formatVersion: 1,
  snapshotId: 'snapshot-0123456789',
  createdAt: 1,
  sessionId: 's',
  agentType: 'a',
  workspace: 'w',
  providerId: 'p',
  workspaceId: 'i',
  entries: 0,
  bytes: 0,
  digest: 'ab'.repeat(32),
}

function entryOf(id: number): SnapshotEntry {
  const path = `/ü${String(id).padStart(6, '0')}`
  if (id % 7 === 0) return { path, type: 'directory', mode: 0o755 }
  if (id % 11 === 0) return { path, type: 'symlink', target: '"x"\n' }
  const hash = id.toString(16).padStart(8, '0').repeat(8)
  return { path, type: 'file', size: id, blocks: id % 5 === 0 ? [] : [hash, hash], version: 'v' }
}

const utf8 = (lines: readonly unknown[]): Uint8Array =>
  new TextEncoder().encode(lines.map((line) => `${JSON.stringify(line)}\n`).join(''))

function canonical(entry: SnapshotEntry): readonly unknown[] {
  if (entry.type === 'symlink') return ['symlink', entry.path, entry.target]
  if (entry.type === 'directory') return ['directory', entry.path, entry.mode]
  return ['file', entry.path, null, entry.size, entry.blocks]
}

test('entries of any number that came, went or changed are encoded as each alone', async () => {
  const edit = fc.record({
    at: fc.nat(),
    remove: fc.nat(300),
    insert: fc.array(fc.nat(9999).map(entryOf), { maxLength: 5 }),
  })
  const script = {
    size: fc.constantFrom(0, 1, 64, 65, 511, 512, 513, 2000),
    edits: fc.array(edit, { maxLength: 4 }),
  }
  await fc.assert(
    fc.asyncProperty(fc.record(script), async ({ size, edits }) => {
      const entries = Array.from({ length: size }, (_, id) => entryOf(id + 1))
      for (const { at, remove, insert } of [{ at: 0, remove: 0, insert: [] }, ...edits]) {
        entries.splice(at % (entries.length + 1), remove, ...insert)
        expect(await digestEntries(entries)).toBe(await sha256(utf8(entries.map(canonical))))
        const encoded = await encodeManifest({ header, entries })
        expect(Buffer.from(encoded).equals(utf8([header, ...entries]))).toBe(true)
      }
    }),
    { numRuns: 40 },
  )
})

test('one entry more leaves nearly all parts as they were, wherever it comes', async () => {
  // Files only: nothing but their hashes says where parts end.
  const files = Array.from({ length: 20_000 }, (_, id) => entryOf(id * 77 * 5 * 13 + 1))
  const entries = files.filter(({ type }) => type === 'file')
  const before = new Set(await encodeManifestParts({ header, entries }))
  expect(before.size).toBeGreaterThan(entries.length / 512)
  for (const at of [0, entries.length / 2, entries.length]) {
    const more = entries.toSpliced(at, 0, entryOf(5))
    const parts = await encodeManifestParts({ header, entries: more })
    expect(parts.filter((part) => !before.has(part)).length).toBeLessThanOrEqual(8)
  }
})
