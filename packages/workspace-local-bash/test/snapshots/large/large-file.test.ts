// A file that is larger than what a process may use, through providers of unlike kinds: memory does
// not grow with it.
import { createHash } from 'node:crypto'
import { appendFileSync, createReadStream, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { noopLogger, systemClock } from '@helix-agents/core'
import {
  type FileSystem,
  fileSystemConfigSchema,
  restoreSnapshot,
  takeSnapshot,
  type Workspace,
  type WorkspaceProvider,
} from '@helix-agents/core/provider'
import { TestSampler } from '@helix-agents/core/testing'
import { createNodeWorkHost, measureWork } from '@helix-agents/workspace-conformance/bounds'
import { LocalBashWorkspaceProvider } from '@helix-agents/workspace-local-bash'
import { DirectorySnapshotStore } from '@helix-agents/workspace-local-bash/parts'
import { afterEach, expect, test } from 'vitest'
import { DiskBucket } from './disk-bucket.ts'

const MEBIBYTE = 1024 ** 2
const sampler = new TestSampler()
const BYTES = sampler.size(1024, 96) * MEBIBYTE
/** What is read and written at once, and garbage: not the file. */
const MAX_PEAK_BYTES = sampler.size(160, 120) * MEBIBYTE
const TIMEOUT_MS = sampler.size(3_600_000, 900_000)
const session = { sessionId: 'session', agentType: 'agent' }
const ends: (() => Promise<void>)[] = []

afterEach(async () => {
  for (const end of ends.splice(0)) await end()
}, TIMEOUT_MS)

function temporary(): string {
  const directory = mkdtempSync(join(tmpdir(), 'helix-large-'))
  ends.push(async () => rmSync(directory, { recursive: true, force: true }))
  return directory
}

interface FileStoreSetup {
  readonly databasePath: string
  readonly r2?: DiskBucket
  readonly maxBytes?: number
}

/** Tests of that package have it; their types are those of workerd. */
const { href } = new URL(
  '../../../../workspace-cloudflare-filestore/test/node-provider.ts',
  import.meta.url,
)
const { createNodeProvider } = (await import(/* @vite-ignore */ href)) as {
  readonly createNodeProvider: (setup: FileStoreSetup) => WorkspaceProvider
}

async function open(
  provider: WorkspaceProvider,
  maxFileSizeMb = 4096,
): Promise<{ readonly ws: Workspace; readonly fs: FileSystem }> {
  const kind = provider.providerId
  const { ws } = await provider.open(provider.parseConfig?.({ kind }) ?? { kind }, session, {
    workspace: 'box',
    capabilities: { fs: fileSystemConfigSchema.parse({ maxFileSizeMb }) },
    signal: new AbortController().signal,
    logger: noopLogger,
    clock: systemClock,
  })
  ends.unshift(() => ws.close())
  if (ws.fs === undefined) throw new Error('no files')
  return { ws, fs: ws.fs }
}

const openHost = () => open(new LocalBashWorkspaceProvider({ tmpdirRoot: temporary() }))

/** Each mebibyte is another one. @returns the directory of the workspace, and SHA-256 of the file */
async function openSource(bytes: number) {
  const source = await openHost()
  const root = source.ws.shellRoot ?? ''
  const block = Buffer.alloc(MEBIBYTE, 'some text ')
  for (let at = 0; at < bytes; at += MEBIBYTE) {
    block.writeDoubleLE(at)
    appendFileSync(join(root, 'large'), block)
  }
  return { ...source, root }
}

async function hashOf(path: string): Promise<string> {
  const hash = createHash('sha256')
  for await (const part of createReadStream(path)) hash.update(part as Buffer)
  return hash.digest('hex')
}

async function bounded<T>(run: () => Promise<T>): Promise<T> {
  const { cost, outcome } = await measureWork(createNodeWorkHost(process), run)
  if (outcome.status === 'rejected') throw outcome.reason
  expect(cost.peakBytes).toBeLessThan(MAX_PEAK_BYTES)
  return outcome.value
}

const take = (
  { ws, fs }: { readonly ws: Workspace; readonly fs: FileSystem },
  store: DirectorySnapshotStore,
) =>
  takeSnapshot(fs, store, {
    scope: 's',
    session,
    workspace: 'box',
    workspaceId: ws.id,
    providerId: 'any',
  })

test(
  'memory does not grow with a file on its way through local-bash, the filestore with and without a bucket, and back',
  { timeout: TIMEOUT_MS },
  async () => {
    const source = await openSource(BYTES)
    const store = new DirectorySnapshotStore({ directory: temporary() })
    const bucket = new DiskBucket(join(temporary(), 'bucket'))
    const inBucket = await open(
      createNodeProvider({ databasePath: join(temporary(), 'a'), r2: bucket }),
    )
    const inRows = await open(createNodeProvider({ databasePath: join(temporary(), 'b') }))
    const back = await openHost()

    const taken = await bounded(() => take(source, store))
    let { manifest } = taken
    for (const place of [inBucket, inRows, back]) {
      const restored = await bounded(() =>
        restoreSnapshot(manifest, store, place.fs, { scope: 's' }),
      )
      expect(restored).toMatchObject({ files: 1, bytes: BYTES })
      ;({ manifest } = await bounded(() => take(place, store)))
    }
    expect(bucket.keys.length).toBeGreaterThan(1)
    expect(manifest.header.digest).toBe(taken.manifest.header.digest)
    const path = join(back.ws.shellRoot ?? '', 'large')
    expect(await hashOf(path)).toBe(await hashOf(join(source.root, 'large')))
  },
)
