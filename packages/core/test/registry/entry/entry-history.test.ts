import type { RestoreReceipt, Workspace } from '@helix-agents/core/provider'
import { ManualClock } from '@helix-agents/core/testing'
import { expect, test } from 'vitest'
import { WorkspaceFailedError } from '../../../src/errors/workspace-failed-error.ts'
import type { SnapshotOptions } from '../../../src/modules/snapshot/contract.ts'
import type { ChangedBefore } from '../../../src/registry/entry/change-tracker.ts'
import { EntryHistory } from '../../../src/registry/entry/entry-history.ts'
import type { RegistryContext } from '../../../src/registry/registry-context.ts'
import type { OpenWorkspace, UseOptions } from '../../../src/registry/workspace-access.ts'

const ref = { providerId: 'p', ref: 1 }

function setup(before: ChangedBefore = 'unknown', hasRef = true) {
  const clock = new ManualClock(100)
  const taken: SnapshotOptions[] = []
  const uses: UseOptions[] = []
  const parts = {
    take: async (): Promise<typeof ref> => ref,
    processes: [] as { readonly state: 'running' | 'exited' }[],
    hasSnapshots: true,
  }
  const context = {
    clock,
    snapshotTimeoutMs: 50,
    changedBefore: () => before,
  } as unknown as RegistryContext
  const workspace = {
    id: 'w',
    isolation: 'none',
    fs: { writeFile: async () => {} },
    shell: { list: async () => parts.processes },
    close: async () => {},
  } as unknown as Workspace
  const withSnapshots = (): Workspace =>
    parts.hasSnapshots
      ? {
          ...workspace,
          snapshot: {
            snapshot: async (options: SnapshotOptions = {}) => {
              taken.push(options)
              return parts.take()
            },
          } as never,
        }
      : workspace
  const entry = {
    name: 'box',
    use: async <T>(operation: (open: OpenWorkspace) => Promise<T>, options: UseOptions) => {
      uses.push(options)
      return operation({ live: withSnapshots() } as OpenWorkspace)
    },
  }
  const history = new EntryHistory(entry, context, hasRef)
  const open = (outcome: RestoreReceipt['outcome']) => history.opened(workspace, { outcome })
  return { history, open, clock, taken, uses, parts }
}

test.each([
  ['unknown', true, false],
  ['no', true, false],
  ['yes', true, true],
  ['yes', false, false],
] as const)('before an open: changed %s, with a ref: %s', (before, hasRef, isDue) => {
  expect(setup(before, hasRef).history.isDue).toBe(isDue)
})

test.each([
  ['no', 'reattached', false],
  ['no', 'restored', true],
  ['no', 'created', true],
  ['unknown', 'reattached', true],
  ['yes', 'reattached', true],
] as const)('changed before: %s, opened as %s', async (before, outcome, isDue) => {
  const { history, open } = setup(before)
  open(outcome)
  expect((await history.take()) !== undefined).toBe(isDue)
})

test('what is known from before counts for the first open alone', async () => {
  const { history, open } = setup('no')
  open('reattached')
  expect(await history.take()).toBeUndefined()
  open('reattached')
  expect(await history.take()).toBe(ref)
})

test('a workspace that was there may run processes', async () => {
  const { history, open, parts } = setup('no')
  open('reattached')
  expect(history.isDue).toBe(true)
  parts.processes = [{ state: 'running' }]
  expect(await history.take()).toBe(ref)
  parts.processes = []
  expect(await history.take()).toBeUndefined()
  expect(history.isDue).toBe(false)
  const fresh = setup('no')
  fresh.open('created')
  await fresh.history.take()
  expect(fresh.history.isDue).toBe(false)
})

test('a change makes the next one due; without one there is none', async () => {
  const { history, open, taken, uses } = setup()
  const live = open('created')
  expect(await history.take()).toBe(ref)
  expect([history.isDue, await history.take()]).toEqual([false, undefined])
  await live.fs!.writeFile('/a', '')
  expect(history.isDue).toBe(true)
  expect(await history.take()).toBe(ref)
  expect(taken).toEqual([
    { keep: true, signal: expect.any(AbortSignal) },
    { keep: true, signal: expect.any(AbortSignal) },
  ])
  expect(uses[0]).toEqual({ idempotent: true, signal: taken[0]?.signal })
})

test('a failure is told, and the snapshot stays due; a success ends it', async () => {
  const { history, open, clock, parts } = setup()
  open('created')
  await history.take()
  expect(history.health).toEqual({ lastSnapshotAt: 100 })
  open('restored')
  const error = new WorkspaceFailedError('provider-failed', 'no room')
  parts.take = () => Promise.reject(error)
  await clock.advance(1)
  await expect(history.take()).rejects.toBe(error)
  expect(history.health).toEqual({
    lastSnapshotAt: 100,
    snapshotFailedAt: 101,
    snapshotErrorCode: 'provider-failed',
  })
  expect(history.isDue).toBe(true)
  parts.take = () => Promise.reject(new Error('disk'))
  await expect(history.take()).rejects.toThrow('disk')
  expect(history.health.snapshotErrorCode).toBe('internal')
  parts.take = async () => ref
  await history.take()
  expect(history.health).toEqual({ lastSnapshotAt: 101 })
  const first = setup()
  first.open('created')
  first.parts.take = () => Promise.reject(error)
  await expect(first.history.take()).rejects.toBe(error)
  expect(first.history.health).not.toHaveProperty('lastSnapshotAt')
})

test('one that takes too long is stopped', async () => {
  const { history, open, clock, taken, parts } = setup()
  open('created')
  parts.take = () => new Promise(() => {})
  const taking = history.take().catch((error: unknown) => error)
  await clock.advance(50)
  const error = await taking
  expect(error).toMatchObject({
    code: 'provider-failed',
    message: expect.stringContaining('the snapshot of workspace "box" took longer than 50 ms'),
    transient: true,
  })
  expect(taken[0]?.signal?.reason).toBe(error)
})

test('a workspace without snapshots says so', async () => {
  const { history, open, parts } = setup()
  open('created')
  parts.hasSnapshots = false
  await expect(history.take()).rejects.toMatchObject({
    code: 'capability-missing',
    message: expect.stringContaining('workspace box takes no snapshots'),
  })
})
