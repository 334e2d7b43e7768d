import { snapshotConfigSchema } from '@helix-agents/core/provider'
import type { SandboxDirectoryEntry } from '@helix-agents/workspace-cloudflare-sandbox'
import { DriverError } from '@helix-agents/workspace-cloudflare-sandbox'
import { describe, expect, test } from 'vitest'
import { Bench, codeOf, payloadOf } from '../double/open-on-double.ts'

const shared = { id: 'team-box', shareAcrossSessions: true } as const
const backups = { backupR2Binding: 'BACKUP_BUCKET' } as const

describe('a shared sandbox', () => {
  test('needs both words', async () => {
    expect(await codeOf(new Bench({ id: 'team-box' }).open())).toBe('sharing-not-declared')
    const lonely = new Bench({ shareAcrossSessions: true })
    expect(await codeOf(lonely.open())).toBe('config-invalid')
  })

  test('is one for all sessions', async () => {
    const bench = new Bench(shared)
    const first = await bench.open({ sessionId: 'session-1' })
    await first.ws.fs!.writeFile('/a', 'x')
    const second = await bench.open({ sessionId: 'session-2' })
    expect(second.receipt.outcome).toBe('reattached')
    expect(await second.ws.fs!.glob('**')).toEqual(['/a'])
    expect(bench.world.starts).toBe(1)
  })

  test('that lost its disk is told to each session, and none chases the other', async () => {
    const bench = new Bench(shared)
    const refs = []
    for (const sessionId of ['session-1', 'session-2'])
      refs.push((await bench.open({ sessionId })).ref)
    bench.world.sleep()
    for (const [index, sessionId] of ['session-1', 'session-2'].entries()) {
      expect(await codeOf(bench.resolve(refs[index]!, { sessionId }))).toBe('lost')
      const opened = await bench.open({ sessionId })
      expect(opened.receipt.outcome).toBe('cold')
      refs[index] = opened.ref
    }
    for (const [index, sessionId] of ['session-1', 'session-2'].entries()) {
      expect((await bench.resolve(refs[index]!, { sessionId })).receipt.outcome).toBe('reattached')
    }
    expect(bench.world.starts).toBe(2)
  })

  test('a ref of it opens nothing for a workspace that shares nothing', async () => {
    const { ref } = await new Bench(shared).open()
    expect(await codeOf(new Bench().resolve(ref))).toBe('ref-invalid')
  })
})

describe('a ref', () => {
  test('of another session is refused without contact', async () => {
    const bench = new Bench()
    const { ref } = await bench.open({ sessionId: 'session-1' })
    const { length } = bench.world.calls
    expect(await codeOf(bench.resolve(ref, { sessionId: 'session-2' }))).toBe('ref-invalid')
    expect(bench.world.calls.length).toBe(length)
  })

  test('of a fork nobody used is for who resolves it first', async () => {
    const bench = new Bench(backups)
    const { ws } = await bench.open({ sessionId: 'session-1' })
    const fork = await ws.snapshot!.branch!(await ws.snapshot!.snapshot())
    const opened = await bench.resolve(fork, { sessionId: 'session-2' })
    expect(opened.receipt.outcome).toBe('restored')
    expect(await codeOf(bench.resolve(opened.ref, { sessionId: 'session-1' }))).toBe('ref-invalid')
  })

  test('holds no configuration', async () => {
    const bench = new Bench({ env: { TOKEN: 'sk-planted' } })
    expect(JSON.stringify((await bench.open()).ref)).not.toContain('sk-planted')
  })

  test('is renewed while the workspace is used, every few minutes', async () => {
    const bench = new Bench()
    const { ws, ref } = await bench.open()
    await ws.fs!.writeFile('/a', 'x')
    expect(ws.changedRef).toBeUndefined()
    await bench.clock.advance(300_000)
    await ws.fs!.writeFile('/a', 'y')
    expect(payloadOf(ws.changedRef!).seenMs).toBe(bench.clock.now())
    expect(payloadOf(ref).seenMs).toBe(bench.clock.now() - 300_000)
  })
})

describe('forks', () => {
  test('make no sandbox before they are resolved', async () => {
    const bench = new Bench(backups)
    const { ws } = await bench.open()
    await ws.snapshot!.restore(await ws.snapshot!.snapshot())
    expect(bench.world.starts).toBe(1)
  })

  test('have ids that fit the platform, also forks of forks', async () => {
    const bench = new Bench(backups)
    let { ws } = await bench.open()
    for (let round = 0; round < 3; round += 1) {
      const fork = await ws.snapshot!.restore(await ws.snapshot!.snapshot())
      ;({ ws } = await bench.resolve(fork))
      expect(ws.id).toMatch(/^hx-[a-z2-7]{32}-restored-[0-9a-f]{16}$/)
      expect(ws.id.length).toBeLessThanOrEqual(63)
    }
  })

  test('of a snapshot that expires are made to the last millisecond', async () => {
    const bench = new Bench({ ...backups, backupTtlSeconds: 120 })
    const { ws } = await bench.open()
    const snapshot = await ws.snapshot!.snapshot()
    for (const code of ['no error', 'provider-failed', 'provider-failed']) {
      const before = code === 'no error' ? 119_999 : 1
      await bench.clock.advance(before)
      expect(await codeOf(ws.snapshot!.restore(snapshot))).toBe(code)
      expect(await codeOf(ws.snapshot!.branch!(snapshot))).toBe(code)
    }
  })

  test('over the limits of a restore are refused', async () => {
    const bench = new Bench(backups, { maxRestoreMembers: 1 })
    const { ws } = await bench.open()
    for (const path of ['/a', '/b']) await ws.fs!.writeFile(path, 'x')
    const fork = await ws.snapshot!.restore(await ws.snapshot!.snapshot())
    expect(await codeOf(bench.resolve(fork))).toBe('provider-failed')
  })
})

test('a search over `maxSearchedFiles` is rejected, one of as many is not', async () => {
  const bench = new Bench({}, { maxSearchedFiles: 3 })
  const { ws } = await bench.open()
  for (const path of ['/a', '/b', '/c']) await ws.fs!.writeFile(path, 'x')
  expect(await codeOf(ws.fs!.glob('*'))).toBe('no error')
  await ws.fs!.writeFile('/d', 'x')
  expect(await codeOf(ws.fs!.glob('*'))).toBe('too-large')
})

test('a restore gets its limits with it', async () => {
  const limits: object[] = []
  const bench = new Bench(backups, { maxRestoreBytes: 5, maxRestoreMembers: 6 })
  bench.world.onRestore = (given) => void limits.push(given)
  const { ws } = await bench.open()
  await bench.resolve(await ws.snapshot!.restore(await ws.snapshot!.snapshot()))
  expect(limits).toMatchObject([{ maxBytes: 5, maxMembers: 6 }])
})

describe('the end', () => {
  test('leaves the container to its sleep by default', async () => {
    const bench = new Bench()
    const { ws } = await bench.open()
    await ws.close()
    expect(bench.world.calls).toEqual(['ensure', 'disconnect'])
    expect(await codeOf(ws.fs!.ls('/'))).toBe('closed')
  })

  test('destroys where that is declared, once', async () => {
    const bench = new Bench({ destroyOnClose: true })
    const { ws, ref } = await bench.open()
    await Promise.all([ws.close(), ws.close()])
    await ws.close()
    expect(bench.world.calls).toEqual(['ensure', 'destroy', 'disconnect'])
    expect(await codeOf(bench.resolve(ref))).toBe('lost')
    expect(bench.world.calls.length).toBe(3)
  })

  test('that is not confirmed is reported, owed, and tried again', async () => {
    const events: string[] = []
    const directory = {
      recordOpening: async ({ workspace }: SandboxDirectoryEntry) =>
        void events.push(`opening ${workspace}`),
      recordDestroyed: async () => void events.push('destroyed'),
      recordDestroyFailed: async () => void events.push('owed'),
    }
    const bench = new Bench({ destroyOnClose: true }, { directory })
    const { ws } = await bench.open()
    bench.world.onCall = ({ name }) => {
      if (name !== 'destroy') return
      throw new DriverError('destroy-unconfirmed', 'no', { admitted: 'yes' })
    }
    await expect(ws.close()).rejects.toMatchObject({ code: 'provider-failed', transient: true })
    expect(events).toEqual(['opening box', 'owed'])
    bench.world.onCall = () => {}
    await ws.close()
    expect(events).toEqual(['opening box', 'owed', 'destroyed'])
  })

  test('detach only lets go', async () => {
    const bench = new Bench({ destroyOnClose: true })
    const { ws, ref } = await bench.open()
    await ws.fs!.writeFile('/a', 'x')
    await ws.detach!()
    expect((await bench.resolve(ref)).receipt.outcome).toBe('reattached')
  })
})

test('without a backup bucket there are no snapshots', async () => {
  const { ws, ref } = await new Bench().open()
  expect(ws.snapshot).toBeUndefined()
  expect(ref.capabilities).toEqual({ fs: true, shell: true, code: true })
})

test('snapshots without a backup bucket are refused before a container is started', async () => {
  const bench = new Bench()
  const snapshot = snapshotConfigSchema.parse({})
  const capabilities = { ...bench.options().capabilities, snapshot }
  expect(await codeOf(bench.open({ capabilities }))).toBe('capability-missing')
  expect(bench.world.containers.size).toBe(0)
  const { ref } = await bench.open()
  bench.world.sleep()
  expect(await codeOf(bench.resolve(ref, { capabilities }))).toBe('capability-missing')
  expect(bench.world.containers.size).toBe(0)
})

test('a close that leaves the container ends the contexts that were made', async () => {
  const bench = new Bench()
  const { ws } = await bench.open()
  await ws.code!.createContext!('python')
  const called: string[] = []
  bench.world.onCall = ({ name }) => void called.push(name)
  await ws.close()
  expect(called).toContain('code.remove')
})

test('a sandbox that was brought back says when it was seen', async () => {
  const bench = new Bench({ ...backups, autoRestore: true })
  const { ws, ref } = await bench.open()
  await ws.snapshot!.snapshot()
  const stored = ws.changedRef ?? ref
  bench.world.sleep()
  await bench.clock.advance(70_000)
  const resolved = await bench.resolve(stored)
  expect(resolved.receipt.outcome).toBe('restored')
  expect(payloadOf(resolved.ref)).toMatchObject({ seenMs: bench.clock.now(), line: '0.12' })
})
