import {
  digestEntries,
  SNAPSHOT_BLOCK_BYTES,
  sha256,
  type SnapshotBlock,
  type SnapshotEntry,
  type SnapshotManifest,
  type SnapshotStore,
} from '@helix-agents/core/provider'
import { patternBytes } from '../assert.ts'

export const SCOPE = 'scope'
export const OTHER = 'other'

/** A block with the bytes of a text. */
export async function blockOf(text: string): Promise<SnapshotBlock> {
  const bytes = new TextEncoder().encode(text)
  return { hash: await sha256(bytes), bytes }
}

/** The largest block that there is. */
export async function largestBlock(): Promise<SnapshotBlock> {
  const bytes = patternBytes(SNAPSHOT_BLOCK_BYTES)
  return { hash: await sha256(bytes), bytes }
}

/** What stands in a manifest beside the blocks. */
export interface ManifestScript {
  readonly snapshotId?: string
  readonly createdAt?: number
}

/** A manifest with a file for each block. */
export async function manifestOf(
  blocks: readonly SnapshotBlock[],
  { snapshotId = 'snapshot-0000000000000001', createdAt = 1 }: ManifestScript = {},
): Promise<SnapshotManifest> {
  const names = blocks.map((block, index) => [String(index).padStart(6, '0'), block] as const)
  const entries: readonly SnapshotEntry[] = names.map(([name, { hash, bytes }]) => ({
    path: `/file-${name}`,
    type: 'file',
    size: bytes.length,
    blocks: bytes.length === 0 ? [] : [hash],
  }))
  return manifestOfEntries(entries, { snapshotId, createdAt })
}

export async function manifestOfEntries(
  entries: readonly SnapshotEntry[],
  { snapshotId = 'snapshot-0000000000000001', createdAt = 1 }: ManifestScript = {},
): Promise<SnapshotManifest> {
  const bytes = entries.reduce((sum, entry) => sum + (entry.type === 'file' ? entry.size : 0), 0)
  const header = {
    formatVersion: 1,
    snapshotId,
    createdAt,
    sessionId: 'session',
    agentType: 'agent',
    workspace: 'box',
    providerId: 'kit',
    workspaceId: 'workspace',
    entries: entries.length,
    bytes,
    digest: await digestEntries(entries),
  } as const
  return { header, entries }
}

/** Stores a snapshot with a file for each text. */
export async function storeSnapshot(
  store: SnapshotStore,
  texts: readonly string[],
  { scope = SCOPE, ...script }: ManifestScript & { readonly scope?: string } = {},
): Promise<SnapshotManifest> {
  const blocks = await Promise.all(texts.map(blockOf))
  await store.putBlocks(scope, blocks)
  const manifest = await manifestOf(blocks, script)
  await store.putManifest(scope, manifest)
  return manifest
}

/** An id that no other number gives. */
export function idOf(number: number): string {
  return `snapshot-${String(number).padStart(16, '0')}`
}

/** Which of the texts are stored as blocks of a scope. */
export async function storedTexts(
  store: SnapshotStore,
  texts: readonly string[],
  scope = SCOPE,
): Promise<string[]> {
  const blocks = await Promise.all(texts.map(blockOf))
  const hashes = blocks.map(({ hash }) => hash)
  const there = await store.getBlocks(scope, hashes)
  return texts.filter((_, index) => there.has(hashes[index] ?? ''))
}
