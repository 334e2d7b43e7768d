import { Buffer } from 'node:buffer'
import { snapshotLimits, type SnapshotManifest } from '@helix-agents/core/provider'
import type { SnapshotSource } from '../src/read-blocks.ts'
import { SnapshotBuilder, type SnapshotIdentity } from '../src/snapshot-builder.ts'
import { MapStore } from './map-store.ts'

export const identity: SnapshotIdentity = {
  agentType: 'repairer',
  createdAt: Date.UTC(2026, 10, 21, 6, 30),
  providerId: 'local-bash',
  sessionId: 'repair-42',
  workspace: 'repo',
  workspaceId: 'box-1',
}

export interface TreeEntry {
  readonly path: string
  readonly text?: string | Uint8Array
  readonly target?: string
  readonly mode?: number
}

export function newSource(): SnapshotSource & { readonly store: MapStore } {
  return { store: new MapStore(), scope: 'scope' }
}

/** Stores a tree: a text is a file, a target a link, nothing a directory. */
export async function storeTree(
  source: SnapshotSource,
  entries: readonly TreeEntry[],
  { hasModes = true, createdAt = identity.createdAt } = {},
): Promise<SnapshotManifest> {
  const builder = new SnapshotBuilder(source, snapshotLimits)
  for (const { path, text, target, mode } of entries) {
    if (target !== undefined) builder.addLink(path, target)
    else if (text === undefined) builder.addDirectory(path, mode ?? 0o755)
    else await builder.addFile(path, { mode: mode ?? 0o644, content: contentOf(text) })
  }
  return builder.finish({ ...identity, createdAt }, { hasModes })
}

async function* contentOf(text: string | Uint8Array): AsyncGenerator<Uint8Array> {
  yield typeof text === 'string' ? Buffer.from(text) : text
}

const long = 'long-name-'.repeat(24)

/** Every kind of entry that a snapshot holds. */
export const awkwardTree: readonly TreeEntry[] = [
  { path: 'empty', mode: 0o700 },
  { path: 'bin/run', text: '#!/bin/sh\n', mode: 0o755 },
  { path: 'bin/read-only', text: 'x', mode: 0o444 },
  { path: 'empty.txt', text: '' },
  { path: '-dash', text: 'a' },
  { path: 'a b/ü/日本語 😀.txt', text: 'ünïcode' },
  { path: '\u{feff}mark', text: 'begins with a byte order mark' },
  { path: 'line\nfeed\\back"quote', text: 'b' },
  { path: `${long}/${long}/${long}/${long}/file`, text: 'deep' },
  { path: 'binary', text: Uint8Array.from({ length: 4096 }, (_, at) => at % 256) },
  { path: 'large', text: new Uint8Array(3 * 1024 * 1024 + 5).fill(7) },
  { path: 'link', target: 'bin/run' },
  { path: 'a b/up', target: '../bin' },
  { path: 'nowhere', target: `${long}/é` },
  { path: 'foo', text: 'c' },
  { path: 'foo.txt', text: 'd' },
  { path: 'foo-dir/x', text: 'e' },
  { path: 'dir.d/x', text: 'f' },
  { path: 'dir/x', text: 'g' },
]
