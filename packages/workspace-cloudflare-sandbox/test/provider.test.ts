// What a provider says of itself, and what passes through it.
import { fileSystemConfigSchema, snapshotConfigSchema } from '@helix-agents/core/provider'
import { ManualClock } from '@helix-agents/core/testing'
import { DriverError } from '@helix-agents/workspace-cloudflare-sandbox'
import { describe, expect, test } from 'vitest'
import { unavailable } from './double/memory-driver.ts'
import { Heard } from './double/heard.ts'
import { Bench, codeOf, kind, payloadOf, session } from './double/open-on-double.ts'

const turn = () => new Promise((resolve) => setImmediate(resolve))

test('a provider says what it is and what it can do at most', () => {
  expect(new Bench().provider).toMatchObject({
    providerId: 'cloudflare-sandbox',
    refSchemaVersion: 1,
    capabilities: { fs: true, shell: true, code: true, snapshot: true, branch: true },
  })
})

test('a ref is of its sandbox, whatever it knows of the containers', async () => {
  const bench = new Bench()
  const { ref } = await bench.open()
  const { provider } = bench
  const other = { ...ref, ref: { ...payloadOf(ref), epoch: 'other', seenMs: 1 } }
  expect([provider.identify(ref), provider.identify(other)]).toEqual(
    Array.from({ length: 2 }, () => payloadOf(ref).sandbox),
  )
  expect(() => provider.identify({ ...ref, ref: {} })).toThrow(
    expect.objectContaining({ code: 'ref-invalid' }),
  )
})

test('a history needs a backup bucket, and its absence is told by name', () => {
  const { provider } = new Bench()
  expect(provider.noHistory({ kind, backupR2Binding: 'BACKUP_BUCKET' })).toBeUndefined()
  expect(provider.noHistory({ kind })).toBe('no backup bucket is declared (backupR2Binding)')
})

test('a declaration is checked with the bindings of the Worker', () => {
  const { provider } = new Bench({}, { bindings: {} })
  expect(provider.parseConfig({ kind })).toMatchObject({ kind, transport: 'rpc' })
  expect(() => provider.parseConfig({ kind, mounts: [{ bucket: 'B', path: '/b' }] })).toThrow(
    expect.objectContaining({
      code: 'config-invalid',
      message: 'cloudflare-sandbox: missing in the Worker: B',
      hint: 'An operator must set up the Worker.',
    }),
  )
  expect(() => provider.parseConfig({ kind, id: 'A' })).toThrow('cloudflare-sandbox: id: ')
})

describe('snapshots without a bucket', () => {
  const capabilities = { snapshot: snapshotConfigSchema.parse({}) }
  const refused = {
    code: 'capability-missing',
    message: 'workspace "box" declares snapshot without a backup bucket (backupR2Binding)',
    hint: 'An operator must change the declaration of the workspace.',
  }

  test('are refused by an open and by a resolve that knows the declaration', async () => {
    const heard = new Heard()
    const { ref } = await heard.bench.open()
    heard.names()
    await expect(heard.bench.open({ capabilities })).rejects.toMatchObject(refused)
    await expect(heard.bench.resolve(ref, { capabilities })).rejects.toMatchObject(refused)
    expect(heard.calls).toEqual([])
  })

  test('are not the matter of a resolve that does not know the declaration', async () => {
    const bench = new Bench({ sleepAfter: '5m' })
    const { ref } = await bench.open()
    const options = { ...bench.options(), session, capabilities }
    const { receipt, ws } = await bench.provider.resolve(ref, options)
    expect([receipt.outcome, ws.snapshot]).toEqual(['reattached', undefined])
  })
})

test('a resolve and a release without a declaration take the defaults', async () => {
  const heard = new Heard({ sleepAfter: '5m', env: { A: '1' } })
  const { ref } = await heard.bench.open()
  const options = { ...heard.bench.options(), session }
  heard.names()
  await heard.bench.provider.resolve(ref, options)
  await heard.bench.provider.release(ref, options)
  const settings = {
    sandboxId: payloadOf(ref).sandbox,
    root: '/workspace',
    env: {},
    transport: 'rpc',
  }
  expect(heard.of('driver')).toStrictEqual([settings, settings])
})

test('a declaration that is wrong is refused by all that read it', async () => {
  const bench = new Bench()
  const { ref } = await bench.open()
  const options = { ...bench.options(), session, config: { kind, id: 'A' } }
  expect(await codeOf(bench.provider.resolve(ref, options))).toBe('config-invalid')
  expect(await codeOf(bench.provider.release(ref, options))).toBe('config-invalid')
  expect(await codeOf(new Bench({ id: 'A' }).open())).toBe('config-invalid')
})

test('no error of a driver leaves an open or a resolve', async () => {
  const bench = new Bench()
  const { ref } = await bench.open()
  const cause = new DriverError('interrupted', 'x', { admitted: 'unknown' })
  bench.world.onCall = () => {
    throw cause
  }
  const expected = { code: 'provider-failed', transient: true, cause }
  await expect(bench.open()).rejects.toMatchObject(expected)
  await expect(bench.resolve(ref)).rejects.toMatchObject(expected)
})

test.each([true, false])(
  'opens wait for room by the clock of the provider (%s), or until they are aborted',
  async (hasOwn) => {
    const [ours, theirs] = [new ManualClock(), new ManualClock()]
    const bench = new Bench({}, hasOwn ? { clock: ours } : {})
    bench.world.onCall = () => {
      throw unavailable({ reason: 'capacity', retryAfterMs: 5000 })
    }
    expect(await codeOf(bench.open({ clock: theirs }))).toBe('provider-failed')
    bench.world.onCall = () => {}
    const abort = new AbortController()
    const waiting = bench.open({ clock: theirs, signal: abort.signal })
    const next = bench.open({ clock: theirs })
    await turn()
    await (hasOwn ? theirs : ours).advance(60_000)
    expect(bench.world.starts).toBe(0)
    abort.abort(new Error('stopped'))
    await expect(waiting).rejects.toThrow('stopped')
    await turn()
    await (hasOwn ? ours : theirs).advance(5000)
    expect((await next).receipt.outcome).toBe('created')
  },
)

test('the number of opens at once is that of the provider', async () => {
  expect(() => new Bench({}, { maxGlobalConcurrentOpens: 1.5 })).toThrow('1.5')
  const fs = fileSystemConfigSchema.parse({})
  const bench = new Bench({}, { maxGlobalConcurrentOpens: 1 })
  let [active, most] = [0, 0]
  bench.world.onCall = async () => {
    active += 1
    most = Math.max(most, active)
    await turn()
    active -= 1
  }
  const { ref } = await bench.open({ capabilities: { fs } })
  await Promise.all([bench.open(), bench.resolve(ref), bench.open({ sessionId: 'b' })])
  expect(most).toBe(1)
})
