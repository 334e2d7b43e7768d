// What a resolve asks of the directory and of the driver, in which order, and what it gives back.
import type { OpenedWorkspace, WorkspaceRef } from '@helix-agents/core/provider'
import { DriverError } from '@helix-agents/workspace-cloudflare-sandbox'
import { describe, expect, test } from 'vitest'
import { hashParts } from '../../src/sandbox-id.ts'
import { Heard } from '../double/heard.ts'
import { codeOf, payloadOf, session } from '../double/open-on-double.ts'

const sandboxId = `hx-${await hashParts('sandbox', session.sessionId, 'box')}`
const owner = await hashParts('owner', session.sessionId, 'box')
const NOW_MS = 1_800_000_000_000
const backups = { backupR2Binding: 'BACKUP_BUCKET' } as const
const restoring = { ...backups, autoRestore: true } as const
const record = { sandboxId, session, workspace: 'box', isShared: false }
const mount = { bucket: 'ONE', path: '/data', prefix: `/helix/${owner}`, local: true }
const mounts = [{ bucket: 'ONE', path: '/data' }]
const onRoot = [{ bucket: 'ONE', path: '/workspace' }]
const limits = { maxBytes: 4_294_967_296, maxMembers: 500_000 }

/** Opened, and heard from now on. */
async function opened(...given: ConstructorParameters<typeof Heard>) {
  const heard = new Heard(...given)
  const { ref, ws } = await heard.bench.open()
  heard.names()
  const { signal } = new AbortController()
  const resolve = (stored: WorkspaceRef = ref): Promise<OpenedWorkspace> =>
    heard.bench.resolve(stored, { signal })
  return { heard, ref, ws, signal, resolve, world: heard.bench.world }
}

/** The same with a snapshot, an hour before the container goes to sleep. */
async function asleep(...given: ConstructorParameters<typeof Heard>) {
  const made = await opened(...given)
  const snapshot = await made.ws.snapshot!.snapshot()
  const stored = made.ws.changedRef ?? made.ref
  made.world.sleep()
  await made.heard.bench.clock.advance(3_600_000)
  made.heard.names()
  return { ...made, snapshot, stored }
}

const replaced = (ref: WorkspaceRef, changes: object): WorkspaceRef => ({
  ...ref,
  ref: { ...payloadOf(ref), ...changes },
})

const lost = {
  name: 'WorkspaceEvictedError',
  code: 'lost',
  message: 'the container and its files are gone',
}

describe('a container that runs', () => {
  test('is asked, recorded, found by its fence and mounted', async () => {
    const { heard, ref, resolve, signal } = await opened({ mounts })
    await heard.bench.clock.advance(60_000)
    const again = await resolve()
    expect(heard.calls).toStrictEqual([
      ['driver', { sandboxId, root: '/workspace', env: {}, transport: 'rpc' }],
      ['identity'],
      ['recordOpening', record],
      ['ensure', { knownEpoch: payloadOf(ref).epoch, signal }],
      ['mount', mount],
    ])
    expect(again.ref).toStrictEqual(ref)
    expect(again.receipt).toStrictEqual({ outcome: 'reattached' })
  })

  test('is gone once another answers, which is not mounted', async () => {
    const { heard, resolve, world } = await opened({ mounts })
    for (const container of world.containers.values()) container.epoch = 'another'
    await expect(resolve()).rejects.toMatchObject(lost)
    expect(heard.names()).toEqual(['driver', 'identity', 'recordOpening', 'ensure'])
  })

  test.each([
    [false, ['driver', 'identity']],
    ['unknown', ['driver', 'identity', 'recordOpening', 'ensure']],
    [true, ['driver', 'identity', 'recordOpening', 'ensure']],
  ] as const)('as far as is known (%s) is started or not', async (running, names) => {
    const { heard, resolve, world } = await opened({}, {})
    const driver = world.createDriver
    Reflect.set(world, 'createDriver', (settings: Parameters<typeof driver>[0]) =>
      Object.assign(driver(settings), { identity: async () => ({ placement: null, running }) }),
    )
    world.sleep()
    await expect(resolve()).rejects.toMatchObject(lost)
    expect(heard.names()).toEqual(names)
  })
})

describe('a resolve', () => {
  test('that is not wanted any more asks for nothing', async () => {
    const { heard, ref } = await opened()
    const signal = AbortSignal.abort(new Error('stopped'))
    await expect(heard.bench.resolve(ref, { signal })).rejects.toThrow('stopped')
    expect(heard.calls).toEqual([])
  })

  test.each([
    ['that runs', mounts],
    ['on a mount', onRoot],
  ])('of a container %s that cannot be recorded starts nothing', async (_, declared) => {
    const { resolve, world } = await opened({ mounts: declared })
    if (declared === onRoot) world.sleep()
    const starts = world.calls.filter((name) => name === 'ensure').length
    world.onCall = ({ name }) => {
      if (name === 'recordOpening') throw new Error('the ledger is away')
    }
    await expect(resolve()).rejects.toThrow('the ledger is away')
    expect(world.calls.filter((name) => name === 'ensure')).toHaveLength(starts)
  })

  test('of a life that is over is lost without contact, and without a cause', async () => {
    const { heard, ref, resolve, ws } = await opened({ destroyOnClose: true })
    await ws.close()
    heard.names()
    const error: unknown = await resolve().catch((each: unknown) => each)
    expect(error).toMatchObject(lost)
    expect(error).not.toHaveProperty('cause')
    expect(heard.calls).toEqual([])
    expect((await heard.bench.open()).receipt).toEqual({ outcome: 'created' })
    expect(payloadOf(ref).epoch).not.toBeNull()
  })

  test('of the other line does not ask for that container', async () => {
    const { heard, ref, resolve } = await opened()
    await expect(resolve(replaced(ref, { line: '1.0' }))).rejects.toMatchObject(lost)
    expect(heard.names()).toEqual(['driver'])
  })
})

describe('a container that lost its disk', () => {
  test('on a mount is prepared again, and has a new fence', async () => {
    const { heard, ref, resolve, signal, world } = await opened({ mounts: onRoot })
    world.sleep()
    await heard.bench.clock.advance(60_000)
    const again = await resolve()
    const { epoch } = payloadOf(again.ref)
    expect(heard.calls.slice(1)).toStrictEqual([
      ['recordOpening', record],
      ['ensure', { knownEpoch: payloadOf(ref).epoch, signal }],
      ['recordOpening', record],
      ['ensure', { signal }],
      ['mount', { ...mount, path: '/workspace' }],
    ])
    expect(epoch).not.toBe(payloadOf(ref).epoch)
    expect(again.ref).toStrictEqual(replaced(ref, { epoch, seenMs: NOW_MS + 60_000 }))
    expect(again.receipt).toStrictEqual({ outcome: 'reattached' })
  })

  test('of the other line goes on in this one', async () => {
    const { heard, ref, resolve } = await opened({ mounts: onRoot })
    const again = await resolve(replaced(ref, { line: '1.0' }))
    expect(payloadOf(again.ref).line).toBe('0.12')
    expect(heard.names()).toEqual(['driver', 'recordOpening', 'ensure', 'mount'])
  })

  test('gets its snapshot back before anything is mounted over it', async () => {
    const { heard, resolve, signal, stored, snapshot } = await asleep({ ...restoring, mounts })
    const again = await resolve(stored)
    const { epoch } = payloadOf(again.ref)
    const { backup } = (snapshot.ref as { snapshot: { backup: object } }).snapshot
    expect(heard.calls.slice(1)).toStrictEqual([
      ['recordOpening', record],
      ['ensure', { knownEpoch: payloadOf(stored).epoch, signal }],
      ['recordOpening', record],
      ['ensure', { signal }],
      ['snapshots.restore', backup, '/workspace', { ...limits, signal }],
      ['mount', mount],
    ])
    expect(again.ref).toStrictEqual(replaced(stored, { epoch, seenMs: NOW_MS + 3_600_000 }))
    expect(again.receipt).toStrictEqual({
      outcome: 'restored',
      detail: `Its files are those of the snapshot of ${new Date(NOW_MS).toISOString()}; processes and code contexts are gone.`,
    })
  })

  test('without a snapshot is not started only to see that', async () => {
    const { heard, resolve, world } = await opened(restoring)
    world.sleep()
    await expect(resolve()).rejects.toMatchObject(lost)
    expect(heard.names()).toEqual(['driver', 'identity'])
  })

  test('is lost where a snapshot in its ref is not to come back', async () => {
    const { heard, ref, resolve, snapshot, world } = await asleep(backups)
    const kept = (snapshot.ref as { snapshot: object }).snapshot
    await world.start(sandboxId)
    await expect(resolve(replaced(ref, { snapshot: kept }))).rejects.toMatchObject(lost)
    expect(heard.names()).toEqual(['driver', 'identity', 'recordOpening', 'ensure'])
  })

  test.each(['snapshot-missing', 'snapshot-expired'] as const)(
    'is lost when its snapshot is (%s), with that as the cause',
    async (code) => {
      const { heard, resolve, stored, world } = await asleep({ ...restoring, mounts })
      const cause = new DriverError(code, 'x', { admitted: 'no' })
      world.onCall = ({ name }) => {
        if (name === 'snapshots.restore') throw cause
      }
      await expect(resolve(stored)).rejects.toMatchObject({ ...lost, cause })
      expect(heard.names().at(-1)).toBe('snapshots.restore')
      world.onCall = () => {}
      expect((await heard.bench.open()).receipt.outcome).toBe('cold')
    },
  )

  test('is not lost when its snapshot only cannot be had now', async () => {
    const { heard, resolve, stored, world } = await asleep(restoring)
    world.onCall = ({ name }) => {
      if (name !== 'snapshots.restore') return
      throw new DriverError('snapshot-failed', 'x', { admitted: 'no', retryAfterMs: 9 })
    }
    await expect(resolve(stored)).rejects.toMatchObject({
      code: 'provider-failed',
      message: 'the snapshot could not be taken or restored',
      retryAfterMs: 9,
    })
    world.onCall = () => {}
    expect((await heard.bench.open()).receipt.outcome).toBe('reattached')
  })
})

describe('a fork', () => {
  test('is of the session that makes it, which keeps its snapshot only to restore it', async () => {
    for (const config of [backups, restoring]) {
      const { heard, ws, signal } = await opened({ ...config, mounts })
      const snapshot = await ws.snapshot!.snapshot()
      const fork = await ws.snapshot!.branch!(snapshot)
      const sandbox = payloadOf(fork).sandbox as string
      const kept = payloadOf(fork).snapshot as { backup: object }
      heard.names()
      await heard.bench.clock.advance(60_000)
      const made = await heard.bench.resolve(fork, { sessionId: 'session-2', signal })
      const second = await hashParts('owner', 'session-2', 'box')
      const { epoch } = payloadOf(made.ref)
      expect(heard.calls).toStrictEqual([
        [
          'driver',
          {
            sandboxId: sandbox,
            root: '/workspace',
            env: {},
            transport: 'rpc',
            backups: { local: true },
          },
        ],
        [
          'recordOpening',
          { ...record, sandboxId: sandbox, session: { ...session, sessionId: 'session-2' } },
        ],
        ['ensure', { signal }],
        ['snapshots.restore', kept.backup, '/workspace', { ...limits, signal }],
        ['mount', { ...mount, prefix: `/helix/${second}` }],
      ])
      expect(epoch).toEqual(expect.any(String))
      const seenMs = NOW_MS + 60_000
      const own = { owner: second, epoch, seenMs, snapshot: config === restoring ? kept : null }
      expect(made.ref).toStrictEqual(replaced(fork, own))
      expect(made.receipt).toMatchObject({
        outcome: 'restored',
        detail: expect.stringContaining(`snapshot of ${new Date(NOW_MS).toISOString()};`) as string,
      })
    }
  })

  test('needs a backup bucket, and is not started without', async () => {
    const { ws } = await opened(backups)
    const fork = await ws.snapshot!.restore(await ws.snapshot!.snapshot())
    const { heard } = await opened()
    await expect(heard.bench.resolve(fork)).rejects.toMatchObject({
      code: 'capability-missing',
      message: 'the workspace is made of a snapshot, and no backup bucket is configured',
      hint: 'An operator must configure the backup bucket (backupR2Binding).',
    })
    expect(heard.names()).toEqual(['driver'])
    expect(await codeOf(heard.bench.resolve(fork))).toBe('capability-missing')
  })
})
