// What an open asks of the directory and of the driver, in which order, and what it gives back.
import type { WorkspaceRef } from '@helix-agents/core/provider'
import { ManualClock } from '@helix-agents/core/testing'
import { describe, expect, test } from 'vitest'
import { hashParts } from '../../src/sandbox-id.ts'
import { Heard } from '../double/heard.ts'
import { Bench, codeOf, payloadOf, session } from '../double/open-on-double.ts'

const sandboxId = `hx-${await hashParts('sandbox', session.sessionId, 'box')}`
const owner = await hashParts('owner', session.sessionId, 'box')
const NOW_MS = 1_800_000_000_000
const backups = { backupR2Binding: 'BACKUP_BUCKET' } as const
const shared = { id: 'team-box', shareAcrossSessions: true } as const
const record = { sandboxId, session, workspace: 'box', isShared: false }
const settings = { sandboxId, root: '/workspace', env: {}, transport: 'rpc' }

/** What a ref of the first open holds. */
const payload = {
  line: '0.12',
  sandbox: sandboxId,
  owner,
  isShared: false,
  lifetime: expect.stringMatching(/^[0-9a-f]{32}$/) as string,
  epoch: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
  seenMs: NOW_MS,
  snapshot: null,
}

describe('an open', () => {
  test('is recorded, then made, with nothing that is not declared', async () => {
    const { bench, calls } = new Heard()
    const { signal } = new AbortController()
    const { ref, receipt } = await bench.open({ signal })
    expect(calls).toStrictEqual([
      ['driver', settings],
      ['recordOpening', record],
      ['ensure', { signal }],
    ])
    expect(ref).toStrictEqual({
      providerId: 'cloudflare-sandbox',
      schemaVersion: 1,
      capabilities: { fs: true, shell: true, code: true },
      ref: payload,
    })
    expect(receipt).toStrictEqual({ outcome: 'created' })
  })

  test('has all that is declared, and its mounts in their order', async () => {
    const mounts = [
      { bucket: 'ONE', path: '/workspace/a', prefix: '/team', readOnly: true },
      { bucket: 'two', path: '/b', endpoint: 'https://s3.example' },
      { bucket: 'THREE', path: '/c', prefix: '/all', shareAcrossSessions: true },
    ]
    const declared = { ...backups, mounts, sleepAfter: '5m', transport: 'http', env: { A: '1' } }
    const { bench, calls } = new Heard(declared as ConstructorParameters<typeof Heard>[0], {
      localBuckets: false,
    })
    const { signal } = new AbortController()
    const { ref } = await bench.open({ signal })
    const { sleepAfter, transport, env } = declared
    expect(calls).toStrictEqual([
      ['driver', { ...settings, sleepAfter, transport, env, backups: { local: false } }],
      ['recordOpening', record],
      ['ensure', { signal }],
      ['mount', { bucket: 'ONE', path: '/workspace/a', prefix: `/team/${owner}`, readOnly: true }],
      [
        'mount',
        { bucket: 'two', path: '/b', prefix: `/helix/${owner}`, endpoint: 'https://s3.example' },
      ],
      ['mount', { bucket: 'THREE', path: '/c', prefix: '/all' }],
    ])
    const all = { fs: true, shell: true, code: true, snapshot: true, branch: true }
    expect(ref.capabilities).toStrictEqual(all)
  })

  test('uses simulated buckets where that is said', async () => {
    const mounts = [{ bucket: 'ONE', path: '/a' }]
    const heard = new Heard({ ...backups, mounts })
    await heard.bench.open()
    expect(heard.of('driver')).toMatchObject([{ backups: { local: true } }])
    expect(heard.of('mount')).toMatchObject([{ local: true }])
  })

  test('of a shared sandbox is of nobody, with the mounts of all', async () => {
    const heard = new Heard({ ...shared, mounts: [{ bucket: 'ONE', path: '/a' }] })
    const { ref } = await heard.bench.open()
    expect(heard.of('recordOpening')).toEqual([
      { ...record, sandboxId: 'team-box', isShared: true },
    ])
    expect(heard.of('mount')).toMatchObject([{ prefix: '/helix/team-box' }])
    expect(ref.ref).toEqual({ ...payload, sandbox: 'team-box', owner: null, isShared: true })
  })

  test('has the time of the provider, or of its caller', async () => {
    const heard = new Heard({}, { clock: new ManualClock(7) })
    expect(payloadOf((await heard.bench.open()).ref).seenMs).toBe(7)
    const other = new Heard()
    const clock = new ManualClock(8)
    expect(payloadOf((await other.bench.open({ clock })).ref).seenMs).toBe(8)
  })

  test.each([
    ['recordOpening', ['driver', 'recordOpening']],
    ['ensure', ['driver', 'recordOpening', 'ensure']],
    ['mount', ['driver', 'recordOpening', 'ensure', 'mount']],
  ])('that is aborted during %s goes no further', async (during, names) => {
    const mounts = ['/a', '/b'].map((path) => ({ bucket: path.slice(1), path }))
    const { bench, calls } = new Heard({ mounts })
    const abort = new AbortController()
    bench.world.onCall = ({ name }) => {
      if (name === during) abort.abort(new Error('stopped'))
    }
    await expect(bench.open({ signal: abort.signal })).rejects.toThrow('stopped')
    expect(calls.map(([name]) => name)).toEqual(names)
  })

  test('that is not wanted any more asks for nothing', async () => {
    const { bench, calls } = new Heard()
    const signal = AbortSignal.abort(new Error('stopped'))
    await expect(bench.open({ signal })).rejects.toThrow('stopped')
    expect(calls).toEqual([])
  })

  test('that cannot be recorded makes nothing', async () => {
    const { bench } = new Heard()
    bench.world.onCall = () => {
      throw new Error('the ledger is away')
    }
    await expect(bench.open()).rejects.toThrow('the ledger is away')
    expect(bench.world.starts).toBe(0)
  })

  test('needs no directory', async () => {
    const bench = new Bench()
    expect(await codeOf(bench.open())).toBe('no error')
    expect(await codeOf(bench.open({ resolvedAs: 'twin' }))).toBe('no error')
  })
})

async function lose(heard: Heard): Promise<void> {
  const { ref } = await heard.bench.open()
  heard.bench.world.sleep()
  await heard.bench.clock.advance(60_000)
  expect(await codeOf(heard.bench.resolve(ref))).toBe('lost')
}

describe('an open after a loss', () => {
  const lostAt = `it was last seen at ${new Date(NOW_MS).toISOString()}.`

  test('says when the files were last there', async () => {
    const heard = new Heard()
    await lose(heard)
    expect((await heard.bench.open()).receipt).toEqual({
      outcome: 'cold',
      detail: `Its container was stopped or replaced; ${lostAt}`,
    })
  })

  test('says also what another life has left, and what is kept', async () => {
    const mounts = ['/workspace/a', '/workspacex', '/workspace/b/c', '/home'].map((path) => ({
      bucket: path.replaceAll('/', '-').slice(1),
      path,
    }))
    const heard = new Heard({ mounts })
    await lose(heard)
    const other = await heard.bench.world.start(sandboxId)
    other.epoch = 'another'
    expect((await heard.bench.open()).receipt).toEqual({
      outcome: 'cold',
      detail: `Its container was stopped or replaced; ${lostAt} Files below /a, /b/c are kept. Another life of the sandbox has left what is there now.`,
    })
  })
})

describe('an open beside the workspace of a session', () => {
  const fork = expect.stringMatching(/^hx-[a-z2-7]{32}-restored-[0-9a-f]{16}$/) as string
  const beside = { resolvedAs: 'twin' }

  test('says what it is about to make before it is recorded and made', async () => {
    const heard = new Heard({ ...backups, mounts: [{ bucket: 'ONE', path: '/a' }] })
    const { signal } = new AbortController()
    const onMaking = heard.hear('onMaking')
    const { ref, receipt } = await heard.bench.open({ ...beside, signal, onMaking })
    const { sandbox, lifetime, epoch } = payloadOf(ref)
    const twinOwner = await hashParts('owner', session.sessionId, 'twin')
    const made = { ...payload, sandbox: fork, owner: twinOwner }
    const capabilities = { fs: true, shell: true, code: true, snapshot: true, branch: true }
    expect(ref).toMatchObject({ capabilities, ref: made })
    expect(receipt).toStrictEqual({ outcome: 'created' })
    expect(epoch).not.toBeNull()
    expect(heard.calls).toStrictEqual([
      ['driver', { ...settings, sandboxId: sandbox, backups: { local: true } }],
      ['onMaking', { ...ref, ref: { ...payloadOf(ref), epoch: null } }],
      ['recordOpening', { ...record, sandboxId: sandbox, workspace: 'twin' }],
      ['ensure', { signal }],
      ['mount', { bucket: 'ONE', path: '/a', prefix: `/helix/${twinOwner}`, local: true }],
    ])
    expect(lifetime).not.toBe(payloadOf((await heard.bench.open()).ref).lifetime)
  })

  test('is found by its ref, and ended when it is closed', async () => {
    const heard = new Heard()
    const { ref, ws } = await heard.bench.open(beside)
    const again = await heard.bench.resolve(ref, beside)
    expect(again.receipt).toEqual({ outcome: 'reattached' })
    heard.names()
    await ws.close()
    expect(heard.names()).toEqual(['destroy', 'recordDestroyed', 'disconnect'])
    expect(heard.bench.world.containers.size).toBe(0)
  })

  test('is none beside a shared one, and nothing is made', async () => {
    const heard = new Heard(shared)
    const made: WorkspaceRef[] = []
    const onMaking = async (ref: WorkspaceRef): Promise<void> => void made.push(ref)
    await expect(heard.bench.open({ ...beside, onMaking })).rejects.toMatchObject({
      code: 'config-invalid',
      message: 'the declaration names the shared sandbox team-box: nothing is made beside it',
      hint: 'An operator must remove id and shareAcrossSessions from the provider options.',
    })
    expect([heard.calls, made]).toEqual([[], []])
  })

  test('that is aborted while it is recorded is not made', async () => {
    const { bench } = new Heard()
    const abort = new AbortController()
    bench.world.onCall = ({ name }) => {
      if (name === 'recordOpening') abort.abort(new Error('stopped'))
    }
    await expect(bench.open({ ...beside, signal: abort.signal })).rejects.toThrow('stopped')
    expect([bench.world.starts, bench.world.calls]).toEqual([0, []])
  })
})
