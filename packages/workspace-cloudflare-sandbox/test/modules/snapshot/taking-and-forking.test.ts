// What a snapshotter asks of its sandbox, and what it lets nobody do.
import { ManualClock } from '@helix-agents/core/testing'
import { describe, expect, test } from 'vitest'
import type { DriverSnapshots, SandboxDriver } from '../../../src/driver/port.ts'
import type { CallOptions, LiveSandbox } from '../../../src/lifecycle/live-sandbox.ts'
import {
  CloudflareSandboxSnapshotter,
  type SandboxSnapshotterOptions,
  toSnapshotRef,
} from '../../../src/modules/snapshot/cloudflare-sandbox-snapshotter.ts'

const session = 'a2'.repeat(16)
const other = 'b2'.repeat(16)
const sandbox = `hx-${'c2'.repeat(16)}`
const backup = { id: 'b1', directory: '/workspace', expiresAtMs: 5000, local: false }
const snapshot = { takenAtMs: 1000, backup }
const ref = toSnapshotRef(session, snapshot)

/** A snapshotter over a bucket that answers so. @param snapshots undefined: there is none. */
function over(
  snapshots: Partial<DriverSnapshots> | undefined,
  more: Partial<SandboxSnapshotterOptions> = {},
) {
  const calls: (CallOptions | undefined)[] = []
  const recorded: unknown[] = []
  const forks: unknown[][] = []
  const live = {
    clock: new ManualClock(1000),
    ref: { sandbox },
    call: (run: (driver: SandboxDriver) => Promise<unknown>, options?: CallOptions) => {
      calls.push(options)
      return run({ snapshots } as unknown as SandboxDriver)
    },
    recordSnapshot: (taken: unknown) => void recorded.push(taken),
  } as unknown as LiveSandbox
  const toForkRef: SandboxSnapshotterOptions['toForkRef'] = (...given) => {
    forks.push(given)
    return { providerId: 'x', schemaVersion: 1, capabilities: {}, ref: {} }
  }
  const options = { session, ttlSeconds: 90, isKept: false, toForkRef, ...more }
  return { snapshotter: new CloudflareSandboxSnapshotter(live, options), calls, recorded, forks }
}

describe('a snapshot', () => {
  test.each([true, false])('may take its time, and is kept in the ref: %s', async (isKept) => {
    const { calls, recorded, snapshotter } = over({ take: async () => backup }, { isKept })
    expect(await snapshotter.snapshot()).toEqual(ref)
    expect(calls).toEqual([{ timeoutMs: Infinity }])
    expect(recorded).toEqual(isKept ? [snapshot] : [])
  })

  test('that is not wanted any more is not taken', async () => {
    const { calls, snapshotter } = over({ take: async () => backup })
    const signal = AbortSignal.abort(new Error('stopped'))
    await expect(snapshotter.snapshot({ signal })).rejects.toThrow('stopped')
    for (const fork of ['restore', 'branch'] as const) {
      await expect(snapshotter[fork](ref, { signal })).rejects.toThrow('stopped')
    }
    expect(calls).toEqual([])
  })

  test('needs a bucket', async () => {
    await expect(over(undefined).snapshotter.snapshot()).rejects.toMatchObject({
      code: 'config-invalid',
      message: 'no backup bucket is configured',
    })
  })

  test('that could not be read again is not given', async () => {
    const odd = { ...backup, id: 'b/1' }
    const { recorded, snapshotter } = over({ take: async () => odd }, { isKept: true })
    await expect(snapshotter.snapshot()).rejects.toThrow('id')
    expect(recorded).toEqual([])
  })
})

describe.each(['restore', 'branch'] as const)('a %s', (kind) => {
  const id = new RegExp(`^${sandbox}-${kind === 'restore' ? 'restored' : 'branch'}-[0-9a-f]{16}$`)

  test('asks the bucket whose the snapshot is', async () => {
    const asked: unknown[] = []
    const nameOf = async (given: unknown): Promise<string> => {
      asked.push(given)
      return session
    }
    const { calls, forks, snapshotter } = over({ nameOf })
    await snapshotter[kind](ref)
    expect([asked, calls]).toEqual([[backup], [undefined]])
    expect(forks).toEqual([[expect.stringMatching(id), snapshot]])
  })

  test.each([undefined, {}])('trusts the ref where the bucket does not know (%j)', async (none) => {
    const { forks, snapshotter } = over(none)
    await snapshotter[kind](ref)
    expect(forks).toHaveLength(1)
    const theirs = snapshotter[kind](toSnapshotRef(other, snapshot))
    await expect(theirs).rejects.toMatchObject({ code: 'cross-session' })
  })

  test('of another session is refused, and not even asked about when it is allowed', async () => {
    const { calls, forks, snapshotter } = over({ nameOf: async () => other })
    await expect(snapshotter[kind](ref)).rejects.toMatchObject({ code: 'cross-session' })
    expect([calls.length, forks]).toEqual([1, []])
    await snapshotter[kind](toSnapshotRef(other, snapshot), { allowCrossSession: true })
    expect([calls.length, forks.length]).toEqual([1, 1])
  })

  test('of one that has expired is refused', async () => {
    const late = toSnapshotRef(session, { ...snapshot, backup: { ...backup, expiresAtMs: 1000 } })
    const { forks, snapshotter } = over({})
    await expect(snapshotter[kind](late)).rejects.toThrow('the snapshot has expired')
    expect(forks).toEqual([])
  })
})
