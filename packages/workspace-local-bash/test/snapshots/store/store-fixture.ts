import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  digestEntries,
  type SnapshotEntry,
  type SnapshotHeader,
  type SnapshotManifest,
} from '@helix-agents/core/provider'
import { afterEach, beforeEach, expect } from 'vitest'
import { openFilesOf } from '../../open-files.ts'

/** A directory for each test of a file, in which no test leaves a file open. */
export function useDirectory(): () => string {
  let directory = ''
  let openBefore = 0
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'helix-stored-'))
    openBefore = openFilesOf(directory)
  })
  afterEach(() => {
    const left = openFilesOf(directory) - openBefore
    rmSync(directory, { recursive: true, force: true })
    expect(left).toBe(0)
  })
  return () => directory
}

/** A manifest that may be stored. */
export async function manifestOf(
  id: string,
  entries: readonly SnapshotEntry[] = [],
  more: Partial<SnapshotHeader> = {},
): Promise<SnapshotManifest> {
  const bytes = entries.reduce((sum, one) => sum + (one.type === 'file' ? one.size : 0), 0)
  const header: SnapshotHeader = {
    formatVersion: 1,
    snapshotId: id,
    createdAt: 1000,
    sessionId: 's',
    agentType: 'a',
    workspace: 'w',
    providerId: 'local-bash',
    workspaceId: 'helix-ws-abcdef',
    entries: entries.length,
    bytes,
    digest: await digestEntries(entries),
    ...more,
  }
  return { header, entries }
}
