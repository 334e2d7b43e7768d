// All that is printed of snapshots, to the letter: for people at terminals, and for programs.
import {
  digestEntries,
  sha256,
  SNAPSHOT_FORMAT_VERSION,
  type SnapshotEntry,
  type SnapshotHeader,
} from '@helix-agents/core/provider'
import { expect, it } from 'vitest'
import { printedBy } from '../../printed.ts'
import { TestHost } from '../../test-host.ts'

const NOW = 1_000_000

interface Sample {
  readonly scope?: string
  readonly header?: Partial<SnapshotHeader>
  readonly entries: readonly SnapshotEntry[]
}

async function addSnapshot(
  { snapshotStore }: TestHost,
  snapshotId: string,
  { scope = 'line-1', header = {}, entries }: Sample,
): Promise<void> {
  const files = entries.filter((entry) => entry.type === 'file')
  await snapshotStore.putManifest(scope, {
    header: {
      formatVersion: SNAPSHOT_FORMAT_VERSION,
      snapshotId,
      createdAt: NOW - 60_000,
      sessionId: 'a-session',
      agentType: 'an-agent',
      workspace: 'repo',
      providerId: 'local-bash',
      workspaceId: 'box',
      entries: entries.length,
      bytes: files.reduce((sum, { size }) => sum + size, 0),
      digest: await digestEntries(entries),
      ...header,
    },
    entries,
  })
}

async function blockOf(text: string): Promise<{ bytes: Uint8Array; hash: string }> {
  const bytes = new TextEncoder().encode(text)
  return { bytes, hash: await sha256(bytes) }
}

async function createHost(): Promise<TestHost> {
  const host = new TestHost()
  const [small, large] = [await blockOf('a'), await blockOf('b'.repeat(2000))]
  for (const scope of ['line-1', 'line-2']) {
    await host.snapshotStore.putBlocks(scope, [small, large])
  }
  const file = { type: 'file', size: 1, blocks: [small.hash] } as const
  await addSnapshot(host, 'aaaa-first-snapshot', {
    entries: [
      { ...file, path: '/a-file-with-a-mode', mode: 0o40 },
      { path: '/a-folder', type: 'directory', mode: 0o755 },
      { path: '/a-link', type: 'symlink', target: 'a-file-with-a-mode' },
      { ...file, path: '/changed' },
      { ...file, path: '/removed-file-with-a-name-that-does-not-fit-on-a-very-narrow-terminal' },
    ],
  })
  await addSnapshot(host, 'bbbb-second-snapshot', {
    scope: 'line-2',
    header: {
      parent: 'aaaa-first-snapshot',
      sessionId: 'another',
      providerId: 'import',
      createdAt: NOW,
    },
    entries: [
      { ...file, path: '/a-file-with-a-mode', mode: 0o644 },
      { path: '/a-folder', type: 'directory' },
      { path: '/a-link', type: 'directory' },
      { path: '/changed', type: 'file', size: 2000, blocks: [large.hash] },
      { path: '/new-link', type: 'symlink', target: 'changed' },
    ],
  })
  return host
}

it.each([
  ['list', ['list']],
  ['list-session', ['list', '--session', 'another', '--scope', 'line-2']],
  ['list-limited', ['list', '--limit', '1']],
  ['list-full', ['list', '--limit', '2']],
  ['list-empty', ['list', '--scope', 'line-3']],
  ['show', ['show', 'aaaa']],
  ['show-few', ['show', 'bbbb-second-snapshot', '--entries', '2']],
  ['show-all', ['show', 'bbbb', '--entries', '5']],
  ['show-none', ['show', 'bbbb', '--entries', '0', '--scope', 'line-2']],
  ['show-unknown', ['show', 'bbbb', '--scope', 'line-1']],
  ['show-ambiguous', ['show', '']],
  ['diff', ['diff', 'aaaa', 'bbbb']],
  ['diff-same', ['diff', 'aaaa', 'aaaa']],
  ['verify', ['verify']],
  ['gc', ['gc', '--grace', '1m']],
])('%s', async (name, args) => {
  const printed = await printedBy(await createHost(), ['snapshots', ...args])
  await expect(printed).toMatchFileSnapshot(`printed/${name}.txt`)
})

it('verify-damaged', async () => {
  const host = await createHost()
  const { snapshotStore } = host
  const getBlocks = snapshotStore.getBlocks.bind(snapshotStore)
  snapshotStore.getBlocks = async (scope, hashes) => {
    const blocks = [...(await getBlocks(scope, hashes))]
    // One is missing, and another is not what it was.
    return new Map(blocks.slice(1).map(([hash]) => [hash, new Uint8Array(2000)]))
  }
  const printed = await printedBy(host, ['snapshots', 'verify'])
  await expect(printed).toMatchFileSnapshot('printed/verify-damaged.txt')
})
