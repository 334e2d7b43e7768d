// Snapshots that are stored while another process sweeps. As a program it is that process.
import { SnapshotStoreError } from '@helix-agents/core'
import {
  digestEntries,
  sha256,
  type SnapshotEntry,
  type SnapshotStore,
} from '@helix-agents/core/provider'
import { openPostgresStores } from '@helix-agents/store-postgres'

/** Stores a snapshot of a new and an old file. @returns what came of it */
export async function raceManifest(store: SnapshotStore, round: number): Promise<string> {
  const texts = [`new ${round}`, `old ${round % 3}`]
  const blocks = await Promise.all(
    texts.map(async (text) => {
      const bytes = new TextEncoder().encode(text)
      return { hash: await sha256(bytes), bytes }
    }),
  )
  const entries: readonly SnapshotEntry[] = blocks.map(({ hash, bytes }, index) => ({
    path: `/${index}`,
    type: 'file',
    size: bytes.length,
    blocks: [hash],
  }))
  const header = {
    formatVersion: 1,
    snapshotId: `snapshot-${String(round).padStart(16, '0')}`,
    createdAt: round,
    sessionId: 'session',
    agentType: 'agent',
    workspace: 'box',
    providerId: 'race',
    workspaceId: 'workspace',
    entries: entries.length,
    bytes: blocks.reduce((sum, { bytes }) => sum + bytes.length, 0),
    digest: await digestEntries(entries),
  } as const
  try {
    await store.putBlocks('race', blocks)
    await store.putManifest('race', { header, entries })
    return 'stored'
  } catch (error) {
    if (!SnapshotStoreError.isInstance(error)) throw error
    return error.code
  }
}

async function sweepForever(url: string): Promise<never> {
  const { snapshotStore } = await openPostgresStores(url)
  process.stdout.write('ready\n')
  for (;;) await snapshotStore.sweep('race', { graceMs: 0 })
}

const [, program = '', url] = process.argv
if (import.meta.filename === program && url !== undefined) await sweepForever(url)
