// What portable snapshots cost here: many directories, which no call of `fs` slices, and a large file.
import { mkdirSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { compareEntries, restoreSnapshot, takeSnapshot } from '@helix-agents/core/provider'
import { TestSampler } from '@helix-agents/core/testing'
import {
  createNodeWorkHost,
  HOLD_TOLERANCE,
  MAX_HOLD_MS,
  MAX_PEAK_BYTES,
  measureWork,
} from '@helix-agents/workspace-conformance/bounds'
import { DirectorySnapshotStore } from '@helix-agents/workspace-local-bash/parts'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { TestHost } from '../open-workspace.ts'

const whole = new TestSampler().isExhaustive
const DIRECTORIES = whole ? 50_000 : 1_500
const LARGE_BYTES = (whole ? 1024 : 64) * 1024 ** 2
const TIMEOUT_MS = 900_000

let host: TestHost
let store: DirectorySnapshotStore
beforeEach(() => {
  host = new TestHost()
  store = new DirectorySnapshotStore({ directory: join(host.tmpdirRoot, 'store') })
})
afterEach(() => host.dispose(), TIMEOUT_MS)

it(
  'the event loop is free while directories are taken, compared and restored',
  { timeout: TIMEOUT_MS },
  async () => {
    const { ws } = await host.open()
    for (let i = 0; i < DIRECTORIES; i += 1) mkdirSync(join(ws.shellRoot, `d${i}`))
    const taken = await bounded(() => take(ws))
    const again = await bounded(() => take(ws))
    const differences = await bounded(() =>
      compareEntries(taken.manifest.entries, again.manifest.entries),
    )
    expect(differences).toEqual([])
    const target = await host.open()
    await bounded(() => restoreSnapshot(taken.manifest, store, target.ws.fs, { scope: 's' }))
    const restored = await take(target.ws)
    expect(restored.manifest.header.digest).toBe(taken.manifest.header.digest)
  },
)

it('memory does not grow with a file', { timeout: TIMEOUT_MS }, async () => {
  const { ws } = await host.open()
  writeFileSync(join(ws.shellRoot, 'large'), '')
  truncateSync(join(ws.shellRoot, 'large'), LARGE_BYTES)
  const native = await bounded(() => ws.snapshot.snapshot())
  await bounded(() => ws.snapshot.restore(native))
  const taken = await bounded(() => take(ws))
  const target = await host.open()
  await bounded(() => restoreSnapshot(taken.manifest, store, target.ws.fs, { scope: 's' }))
  expect(await target.ws.fs.stat('/large')).toMatchObject({ size: LARGE_BYTES })
  await store.deleteManifest('s', taken.manifest.header.snapshotId)
  await bounded(() => store.sweep('s', { graceMs: 0 }))
})

async function take(ws: Awaited<ReturnType<TestHost['open']>>['ws']) {
  return takeSnapshot(ws.fs, store, {
    scope: 's',
    session: { sessionId: 'bounds', agentType: 'bounds' },
    workspace: 'box',
    workspaceId: ws.id,
    providerId: 'local-bash',
  })
}

/** Garbage collection counts as well, so that a measured hold fails at twice the limit. */
async function bounded<T>(run: () => Promise<T>): Promise<T> {
  const { cost, outcome } = await measureWork(createNodeWorkHost(process), run)
  if (outcome.status === 'rejected') throw outcome.reason
  expect(cost.holdMs).toBeLessThan(MAX_HOLD_MS * HOLD_TOLERANCE)
  expect(cost.peakBytes).toBeLessThan(MAX_PEAK_BYTES)
  return outcome.value
}
