import { SnapshotStoreError } from '@helix-agents/core'
import {
  parseManifest,
  SNAPSHOT_GRACE_MS,
  type SweepOptions,
  type SweepResult,
} from '@helix-agents/core/provider'
import { forAll } from './bucket.ts'
import { headKey, type ScopeKeys, timeOf } from './scope-keys.ts'
import {
  type BucketScope,
  listBlocks,
  MARK_MS,
  NamedBlocks,
  PENDING_MS,
  readHashes,
  storeHashes,
  SWEEP_MS,
} from './scope-state.ts'

/** Blocks between two looks at the time. */
const DELETES_AT_ONCE = 64

/**
 * Deletes the blocks that no manifest names and that were not used since.
 *
 * A bucket has no transactions, but what was stored is seen by whoever lists later. A sweep stores
 * what it is about to delete, and only then looks again at what is used, pending and named. Whoever
 * stores or finds blocks says so first, and only then looks for such sweeps, and waits for them. So
 * one of both sees the other.
 * @throws {SnapshotStoreError} `corrupt` when a manifest cannot be read: what it names is not known.
 */
export async function sweepScope(scope: BucketScope, options: SweepOptions): Promise<SweepResult> {
  const { bucket, clock, keys } = scope
  const { graceMs = SNAPSHOT_GRACE_MS, signal } = options
  const untilMs = clock.now() - graceMs
  const named = new NamedBlocks(scope)
  const blocks = await listBlocks(scope)
  const free = await findFree(scope, { named, untilMs, candidates: [...blocks.keys()] })
  let gone: readonly string[] = []
  if (free.length > 0) {
    signal?.throwIfAborted()
    const endMs = clock.now() + SWEEP_MS
    const mark = await storeHashes(scope, keys.condemned, free)
    try {
      gone = await findFree(scope, { named, untilMs, candidates: free })
      await deleteBlocks(scope, gone, { endMs, signal })
    } finally {
      await bucket.delete(mark)
    }
  }
  await tidy(scope, Math.max(graceMs, SNAPSHOT_GRACE_MS))
  const deletedBytes = gone.reduce((sum, hash) => sum + (blocks.get(hash) ?? 0), 0)
  return { deletedBlocks: gone.length, deletedBytes, keptBlocks: blocks.size - gone.length }
}

/** @throws {SnapshotStoreError} `unavailable` past the time at which the mark counts no more. */
async function deleteBlocks(
  { bucket, clock, keys }: BucketScope,
  hashes: readonly string[],
  { endMs, signal }: { readonly endMs: number; readonly signal: AbortSignal | undefined },
): Promise<void> {
  for (let at = 0; at < hashes.length; at += DELETES_AT_ONCE) {
    signal?.throwIfAborted()
    if (clock.now() > endMs) throw tooSlow()
    const part = hashes.slice(at, at + DELETES_AT_ONCE)
    await forAll(part, (hash) => bucket.delete(`${keys.blocks}${hash}`))
  }
}

/** Pending manifests are listed before the stored ones: one that moves is in either list. */
async function findFree(
  { bucket, clock, keys }: BucketScope,
  at: {
    readonly named: NamedBlocks
    readonly untilMs: number
    readonly candidates: readonly string[]
  },
): Promise<readonly string[]> {
  const pending = (await bucket.keys(keys.pending)).filter(
    (key) => clock.now() - timeOf(key) < 2 * PENDING_MS,
  )
  const uses = (await bucket.keys(keys.uses)).filter((key) => timeOf(key) > at.untilMs)
  const used = await readHashes(bucket, [...pending, ...uses])
  await at.named.readNew()
  return at.candidates.filter((hash) => !used.has(hash) && !at.named.has(hash))
}

/** Removes what calls that ended or died have left, and gives every manifest its header. */
async function tidy(scope: BucketScope, graceMs: number): Promise<void> {
  const { bucket, clock, keys } = scope
  const old = async (folder: string, ms: number): Promise<readonly string[]> => {
    const all = await bucket.keys(folder)
    return all.filter((key) => clock.now() - timeOf(key) >= ms)
  }
  const left = [
    ...(await old(keys.uses, graceMs)),
    ...(await old(keys.pending, 2 * PENDING_MS)),
    ...(await old(keys.condemned, 2 * MARK_MS)),
  ]
  await forAll(left, (key) => bucket.delete(key))
  await repairHeads(scope)
  if (await isEmpty(scope)) {
    await bucket.delete(keys.marker)
    // Stored meanwhile.
    if (!(await isEmpty(scope))) await putMarker(scope)
  }
}

async function repairHeads({ bucket, keys }: BucketScope): Promise<void> {
  const heads = await bucket.keys(keys.heads)
  const ids = new Set((await bucket.keys(keys.manifests)).map((key) => idIn(key)))
  const listed = new Set(heads.map((key) => idIn(key)))
  await forAll(
    heads.filter((key) => !ids.has(idIn(key))),
    (key) => bucket.delete(key),
  )
  for (const id of [...ids].filter((one) => !listed.has(one))) {
    const bytes = await bucket.get(`${keys.manifests}${id}`)
    if (bytes === undefined) continue
    const { header } = await parseManifest(bytes)
    await bucket.put(headKey(keys, header), new TextEncoder().encode(JSON.stringify(header)))
  }
}

/** A snapshot id has no dot. */
function idIn(key: string): string {
  return key.slice(Math.max(key.lastIndexOf('/'), key.lastIndexOf('.')) + 1)
}

async function isEmpty({ bucket, keys }: BucketScope): Promise<boolean> {
  for (const folder of [keys.blocks, keys.manifests, keys.pending]) {
    for await (const _ of bucket.list(folder)) return false
  }
  return true
}

/** Says that a scope is there. */
export async function putMarker({
  bucket,
  keys,
}: {
  readonly bucket: BucketScope['bucket']
  readonly keys: ScopeKeys
}): Promise<void> {
  await bucket.put(keys.marker, new TextEncoder().encode(keys.name))
}

function tooSlow(): SnapshotStoreError {
  return new SnapshotStoreError('unavailable', 'the sweep took too long; the next one continues')
}
