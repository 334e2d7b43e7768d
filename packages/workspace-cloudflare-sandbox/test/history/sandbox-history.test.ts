// What the history of sandboxes asks of a bucket, for callers without an open workspace.
import type { ResolveOptions, SnapshotRef } from '@helix-agents/core/provider'
import {
  CloudflareSandboxWorkspaceProvider,
  DriverError,
} from '@helix-agents/workspace-cloudflare-sandbox'
import { describe, expect, test } from 'vitest'
import type { DriverSnapshots, SandboxDriver } from '../../src/driver/port.ts'
import { toSnapshotRef } from '../../src/modules/snapshot/cloudflare-sandbox-snapshotter.ts'
import { hashParts } from '../../src/sandbox-id.ts'
import { Bench, codeOf, kind, payloadOf, session } from '../double/open-on-double.ts'

const own = await hashParts('session', session.sessionId)
const other = await hashParts('session', 'session-2')
const owner = await hashParts('owner', session.sessionId, 'box')
const NOW_MS = 1_800_000_000_000
const backup = { id: 'b1', directory: '/workspace', expiresAtMs: NOW_MS + 1, local: true }
const snapshot = { takenAtMs: 5, backup }
const ref = toSnapshotRef(own, snapshot)
const config = { kind, backupR2Binding: 'BACKUP_BUCKET', env: { A: '1' } } as const

/** A bucket that answers as a test says, a turn later. @param answers Of none: no bucket is there. */
function over(
  answers: Partial<Record<keyof DriverSnapshots, unknown>> | undefined,
  localBuckets = true,
) {
  const made: unknown[][] = []
  const hear =
    (name: string, answer?: unknown) =>
    async (...given: readonly unknown[]): Promise<unknown> => {
      await new Promise((resolve) => setImmediate(resolve))
      made.push([name, ...given])
      if (answer instanceof Error) throw answer
      return answer
    }
  const snapshots =
    answers &&
    Object.fromEntries(Object.entries(answers).map(([name, answer]) => [name, hear(name, answer)]))
  const { history } = new CloudflareSandboxWorkspaceProvider({
    driver: (settings) => {
      made.push(['driver', settings])
      return { line: '0.12', snapshots } as unknown as SandboxDriver
    },
    localBuckets,
  })
  return { history, made, hear }
}

const options = (more: Partial<ResolveOptions> = {}): ResolveOptions => ({
  ...new Bench().options(),
  session,
  config,
  ...more,
})

const fork = expect.stringMatching(/^hx-[a-z2-7]{32}-restored-[0-9a-f]{16}$/) as string
const settings = { root: '/workspace', env: {}, transport: 'rpc' }
const away = new DriverError('unavailable', 'hx-secret', { admitted: 'no', retryAfterMs: 4 })
const mapped = { code: 'provider-failed', transient: true, retryAfterMs: 4, cause: away }

describe('a restore', () => {
  test('asks whose the snapshot is, says what will be made, and makes nothing', async () => {
    const { hear, history, made } = over({ nameOf: own })
    const restored = await history.restore(ref, options({ onMaking: hear('onMaking') as never }))
    expect(restored).toStrictEqual({
      providerId: kind,
      schemaVersion: 1,
      capabilities: { fs: true, shell: true, code: true, snapshot: true, branch: true },
      ref: {
        line: '0.12',
        sandbox: fork,
        owner: null,
        isShared: false,
        lifetime: expect.stringMatching(/^[0-9a-f]{32}$/) as string,
        epoch: null,
        seenMs: NOW_MS,
        snapshot,
      },
    })
    const sandboxId = payloadOf(restored).sandbox
    expect(made).toStrictEqual([
      ['driver', { ...settings, sandboxId, env: { A: '1' }, backups: { local: true } }],
      ['nameOf', backup],
      ['onMaking', { ...restored, ref: { ...payloadOf(restored), owner } }],
    ])
  })

  test('where no declaration is known has no backups', async () => {
    const { history, made } = over(undefined)
    const { config: _, ...undeclared } = options()
    const { capabilities } = await history.restore(ref, undeclared)
    expect(capabilities).toEqual({ fs: true, shell: true, code: true })
    expect(made).toStrictEqual([['driver', { ...settings, sandboxId: fork }]])
  })

  test.each([
    ['by its ref', toSnapshotRef(other, snapshot), own],
    ['by the bucket', ref, other],
  ])('of another session is refused %s, unless it is allowed', async (_, taken, name) => {
    const { history, made } = over({ nameOf: name })
    expect(await codeOf(history.restore(taken, options()))).toBe('cross-session')
    made.length = 0
    const allowed = { ...options(), allowCrossSession: true }
    expect(payloadOf(await history.restore(taken, allowed)).snapshot).toEqual(snapshot)
    expect(made.map(([called]) => called)).toEqual(['driver'])
  })

  test('of a snapshot that has expired is refused before anything is said', async () => {
    const { hear, history, made } = over({ nameOf: own })
    const late = { takenAtMs: 5, backup: { ...backup, expiresAtMs: NOW_MS } }
    const asked = options({ onMaking: hear('onMaking') as never })
    await expect(history.restore(toSnapshotRef(own, late), asked)).rejects.toMatchObject({
      message: 'the snapshot has expired',
    })
    expect(made.map(([called]) => called)).toEqual(['driver', 'nameOf'])
  })

  test('of what is no snapshot asks for nothing', async () => {
    const { history, made } = over({ nameOf: own })
    const odd: SnapshotRef = { ...ref, providerId: 'other' }
    expect(await codeOf(history.restore(odd, options()))).toBe('ref-invalid')
    expect(await codeOf(history.remove(odd))).toBe('ref-invalid')
    expect(made).toEqual([])
  })

  test('with a caller who cannot keep the ref is none', async () => {
    const { hear, history } = over({ nameOf: own })
    const onMaking = hear('onMaking', new Error('the store is away')) as never
    await expect(history.restore(ref, options({ onMaking }))).rejects.toThrow('the store is away')
  })
})

describe.each([true, false])('a bucket (simulated: %s)', (local) => {
  test('is asked under a name of its own, never the sandbox', async () => {
    const { history, made } = over({ remove: undefined, listKept: [snapshot] }, local)
    await history.remove(ref)
    expect(await history.list(session.sessionId)).toEqual({ snapshots: [ref], workspaces: [] })
    const sandboxId = `hx-${await hashParts('history', own)}`
    expect(made).toStrictEqual([
      ['driver', { ...settings, sandboxId, backups: { local } }],
      ['remove', backup, own],
      ['driver', { ...settings, sandboxId, backups: { local } }],
      ['listKept', own],
    ])
  })
})

test.each([[{}], [undefined]])('a bucket that can do nothing (%j) holds nothing', async (none) => {
  const { history } = over(none)
  expect(await history.list('s')).toEqual({ snapshots: [], workspaces: [] })
  expect(await codeOf(history.remove(ref))).toBe('no error')
  expect(payloadOf(await history.restore(ref, options())).snapshot).toEqual(snapshot)
})

test('no error of a driver leaves the provider', async () => {
  const { history } = over({ nameOf: away, remove: away, listKept: away })
  await expect(history.restore(ref, options())).rejects.toMatchObject(mapped)
  await expect(history.remove(ref)).rejects.toMatchObject(mapped)
  await expect(history.list(session.sessionId)).rejects.toMatchObject(mapped)
})

test('a ref needs the snapshot that it comes back from, for its session', async () => {
  const { history } = over({})
  const { ref: stored } = await new Bench().open()
  const holding = { ...stored, ref: { ...payloadOf(stored), snapshot } }
  expect(await history.neededBy?.(stored, session.sessionId)).toBeUndefined()
  expect(await history.neededBy?.(holding, session.sessionId)).toEqual(ref)
  expect(await history.neededBy?.(holding, 'session-2')).toEqual(toSnapshotRef(other, snapshot))
})
