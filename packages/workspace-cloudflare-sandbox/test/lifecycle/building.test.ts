// What the modules of a workspace get of the provider and of its declaration.
import type { OpenedWorkspace } from '@helix-agents/core/provider'
import { fileSystemConfigSchema } from '@helix-agents/core/provider'
import { ManualClock } from '@helix-agents/core/testing'
import { DriverError } from '@helix-agents/workspace-cloudflare-sandbox'
import { describe, expect, test } from 'vitest'
import type { EnsureOptions, SandboxDriver } from '../../src/driver/port.ts'
import { ensureContainer } from '../../src/lifecycle/prepare-sandbox.ts'
import { hashParts } from '../../src/sandbox-id.ts'
import { Heard } from '../double/heard.ts'
import { Bench, codeOf, payloadOf, session } from '../double/open-on-double.ts'

const MEBIBYTE = 1_048_576
const backups = { backupR2Binding: 'BACKUP_BUCKET' } as const

/** Whether a promise is settled by now. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  const turn = new Promise((resolve) => setImmediate(() => resolve('pending')))
  return (await Promise.race([promise.catch(() => 'settled'), turn])) !== 'pending'
}

describe.each([
  ['a command', ({ ws }: OpenedWorkspace) => ws.shell!.run('ls'), 31_000],
  ['code', ({ ws }: OpenedWorkspace) => ws.code!.runCode('python', '1'), 31_000],
  ['another call', ({ ws }: OpenedWorkspace) => ws.fs!.stat('/'), 7000],
])('%s', (_, call, timeMs) => {
  test.each([true, false])(
    'has its time by the clock of the provider (%s), and half a minute to end',
    async (hasOwn) => {
      const [ours, theirs] = [new ManualClock(), new ManualClock()]
      const times = { defaultTimeoutMs: 1000, callTimeoutMs: 7000 }
      const bench = new Bench({}, { ...times, ...(hasOwn && { clock: ours }) })
      const opened = await bench.open({ clock: theirs })
      bench.world.onCall = () => new Promise(() => {})
      const called = call(opened)
      await (hasOwn ? theirs : ours).advance(999_999)
      await (hasOwn ? ours : theirs).advance(timeMs - 1)
      expect(await isSettled(called)).toBe(false)
      await (hasOwn ? ours : theirs).advance(1)
      expect(await codeOf(called)).toBe('evicted')
    },
  )
})

describe('files', () => {
  test('are as large as is declared', async () => {
    const fs = fileSystemConfigSchema.parse({ maxFileSizeMb: 1 })
    const { ws } = await new Bench().open({ capabilities: { fs } })
    expect(await codeOf(ws.fs!.writeFile('/a', new Uint8Array(MEBIBYTE)))).toBe('no error')
    expect(await codeOf(ws.fs!.writeFile('/a', new Uint8Array(MEBIBYTE + 1)))).toBe('too-large')
  })

  test('have no bound of their own without a declaration', async () => {
    const { ws } = await new Bench().open({ capabilities: {} })
    expect(await codeOf(ws.fs!.writeFile('/a', new Uint8Array(11 * MEBIBYTE)))).toBe('no error')
  })

  test('are read whole up to the bound of the provider', async () => {
    const { ws } = await new Bench({}, { maxWholeReadBytes: 3 }).open()
    await ws.fs!.writeFile('/a', 'abc')
    await ws.fs!.writeFile('/b', 'abcd')
    expect(await codeOf(ws.fs!.readFile('/a'))).toBe('no error')
    expect(await codeOf(ws.fs!.readFile('/b'))).toBe('too-large')
  })
})

test('commands and code print as much as the provider allows', async () => {
  const heard = new Heard({}, { maxOutputBytes: 5, defaultTimeoutMs: 6 })
  const { ws } = await heard.bench.open()
  await ws.shell!.run('ls')
  await ws.code!.runCode('python', '1')
  const given = { maxOutputBytes: 5, timeoutMs: 6, cwd: '/workspace' }
  expect(heard.of('exec')[1]).toMatchObject(given)
  expect(heard.of('code.runOnce')[2]).toMatchObject(given)
})

describe('snapshots', () => {
  test('have the name of the session, the life that is declared and the time of the provider', async () => {
    const heard = new Heard({ ...backups, backupTtlSeconds: 90 }, { clock: new ManualClock(70) })
    const { ws, ref } = await heard.bench.open()
    const { signal } = new AbortController()
    const snapshot = await ws.snapshot!.snapshot()
    await ws.snapshot!.snapshot({ keep: true, signal })
    const name = await hashParts('session', session.sessionId)
    const asked = { ttlSeconds: 90, name }
    expect(heard.of('snapshots.take')).toStrictEqual([
      '/workspace',
      asked,
      '/workspace',
      { ...asked, keptAtMs: 70, signal },
    ])
    expect(snapshot.ref).toMatchObject({ session: name, snapshot: { takenAtMs: 70 } })
    const fork = await ws.snapshot!.branch!(snapshot)
    expect(fork).toStrictEqual({
      ...ref,
      ref: {
        line: '0.12',
        sandbox: expect.stringMatching(/^hx-[a-z2-7]{32}-branch-[0-9a-f]{16}$/) as string,
        owner: null,
        isShared: false,
        lifetime: expect.stringMatching(/^[0-9a-f]{32}$/) as string,
        epoch: null,
        seenMs: 70,
        snapshot: (snapshot.ref as { snapshot: object }).snapshot,
      },
    })
    expect(payloadOf(fork).lifetime).not.toBe(payloadOf(ref).lifetime)
  })

  test('have the time of the caller where the provider has none', async () => {
    const clock = new ManualClock(80)
    const { ws } = await new Bench(backups).open({ clock })
    const snapshot = await ws.snapshot!.snapshot()
    expect(snapshot.ref).toMatchObject({ snapshot: { takenAtMs: 80 } })
    await clock.advance(5)
    expect(payloadOf(await ws.snapshot!.restore(snapshot)).seenMs).toBe(85)
  })
})

const error = (code: 'interrupted' | 'unavailable', admitted: 'no' | 'unknown' = 'no') =>
  new DriverError(code, 'x', { admitted })

/** A driver whose container answers with these first. */
function answering(...errors: readonly unknown[]) {
  const left = [...errors]
  const asked: EnsureOptions[] = []
  const ensure = async (options: EnsureOptions) => {
    asked.push(options)
    if (left.length > 0) throw left.shift()
    return { outcome: 'created', epoch: 'e', placement: null }
  }
  return { asked, driver: { ensure } as unknown as SandboxDriver }
}

describe('a container that goes away while it is asked for', () => {
  test('is asked for once more, in the same way', async () => {
    const options = { knownEpoch: 'e', signal: new AbortController().signal }
    const { asked, driver } = answering(error('interrupted'))
    expect(await ensureContainer(driver, options)).toMatchObject({ outcome: 'created' })
    expect(asked).toEqual([options, options])
  })

  test.each([
    [error('interrupted', 'unknown')],
    [error('unavailable')],
    [Object.assign(new Error('x'), { code: 'interrupted', admitted: 'no' })],
  ])('is not asked again after what is no such answer (%#)', async (given) => {
    const { asked, driver } = answering(given)
    const { signal } = new AbortController()
    await expect(ensureContainer(driver, { signal })).rejects.toBe(given)
    expect(asked).toHaveLength(1)
  })

  test('is not asked for a third time, nor when nobody wants it any more', async () => {
    const second = error('interrupted')
    const { asked, driver } = answering(error('interrupted'), second)
    const { signal } = new AbortController()
    await expect(ensureContainer(driver, { signal })).rejects.toBe(second)
    expect(asked).toHaveLength(2)
    const aborted = answering(error('interrupted'))
    const stopped = AbortSignal.abort(new Error('stopped'))
    const asking = ensureContainer(aborted.driver, { signal: stopped })
    await expect(asking).rejects.toThrow('stopped')
    expect(aborted.asked).toHaveLength(1)
  })
})
