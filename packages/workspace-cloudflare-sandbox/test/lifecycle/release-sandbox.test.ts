// The end of a sandbox that a session has let go.
import { logMessages } from '@helix-agents/core/provider'
import { RecordingLogger } from '@helix-agents/core/testing'
import type { SandboxDirectory } from '@helix-agents/workspace-cloudflare-sandbox'
import { DriverError } from '@helix-agents/workspace-cloudflare-sandbox'
import { expect, it } from 'vitest'
import { hashParts } from '../../src/sandbox-id.ts'
import { failing, Heard } from '../double/heard.ts'
import { Bench, codeOf, payloadOf, session } from '../double/open-on-double.ts'

/** A bench whose directory and container record in one list. */
function benchOf(config: ConstructorParameters<typeof Bench>[0] = {}) {
  const calls: string[] = []
  const record = (name: string) => async () => {
    await new Promise((resolve) => setImmediate(resolve))
    calls.push(name)
  }
  const directory: SandboxDirectory = {
    recordOpening: async () => {},
    recordDestroyed: record('recorded'),
    recordDestroyFailed: record('owed'),
  }
  const made = new Bench(config, { directory })
  const options = (sessionId = session.sessionId) => ({
    ...made.options(),
    config: made.config,
    session: { ...session, sessionId },
  })
  return { made, calls, options }
}

it('is ended, recorded and left, in this order', async () => {
  const { calls, made, options } = benchOf()
  const { ref } = await made.open()
  made.world.onCall = ({ name }) => void calls.push(name)
  await made.provider.release(ref, options())
  expect(calls).toEqual(['destroy', 'recorded', 'disconnect'])
  expect(made.world.containers.size).toBe(0)
  expect(await codeOf(made.resolve(ref))).toBe('lost')
  // Its life is over: it is not asked.
  expect(calls).toHaveLength(3)
})

it('that is not confirmed is owed', async () => {
  const { calls, made, options } = benchOf()
  const { ref } = await made.open()
  made.world.onCall = () => {
    throw new DriverError('destroy-unconfirmed', 'x', { admitted: 'unknown' })
  }
  await expect(made.provider.release(ref, options())).rejects.toMatchObject({
    code: 'provider-failed',
    message: 'the platform did not confirm the end of the sandbox',
    transient: true,
  })
  expect(calls).toEqual(['owed'])
  made.world.onCall = () => {}
  await made.provider.release(ref, options())
  expect(calls).toEqual(['owed', 'recorded'])
})

it('of another session, or of several, is not ended', async () => {
  const { calls, made, options } = benchOf()
  const { ref } = await made.open()
  expect(await codeOf(made.provider.release(ref, options('other')))).toBe('ref-invalid')
  const shared = benchOf({ id: 'team-box', shareAcrossSessions: true })
  const opened = await shared.made.open()
  await shared.made.provider.release(opened.ref, shared.options())
  expect([calls, shared.calls, shared.made.world.containers.size]).toEqual([[], [], 1])
})

it('is that of the ref, recorded under the name that the session has for it', async () => {
  const heard = new Heard({ backupR2Binding: 'BACKUP_BUCKET', sleepAfter: 60 })
  const { bench, calls } = heard
  const { ref } = await bench.open({ resolvedAs: 'twin' })
  const { sandbox } = payloadOf(ref)
  heard.names()
  await bench.provider.release(ref, {
    ...bench.options(),
    config: bench.config,
    session,
    resolvedAs: 'twin',
  })
  const settings = { root: '/workspace', env: {}, transport: 'rpc', sleepAfter: 60 }
  expect(calls).toStrictEqual([
    ['driver', { ...settings, sandboxId: sandbox, backups: { local: true } }],
    ['destroy'],
    ['recordDestroyed', { sandboxId: sandbox, session, workspace: 'twin', isShared: false }],
    ['disconnect'],
  ])
})

it('is owed with why', async () => {
  const { bench, calls } = new Heard()
  const { ref } = await bench.open()
  const cause = new DriverError('destroy-unconfirmed', 'x', { admitted: 'unknown' })
  calls.length = 0
  bench.world.onCall = ({ name }) => {
    if (name === 'destroy') throw cause
  }
  const options = { ...bench.options(), session }
  await expect(bench.provider.release(ref, options)).rejects.toMatchObject({ cause })
  const sandboxId = `hx-${await hashParts('sandbox', session.sessionId, 'box')}`
  const record = { sandboxId, session, workspace: 'box', isShared: false }
  expect(calls.slice(1)).toEqual([['destroy'], ['recordDestroyFailed', record, cause]])
})

it('is owed also when its directory is away, which is logged', async () => {
  const { bench } = new Heard()
  const { ref } = await bench.open()
  const logger = new RecordingLogger()
  const cause = new DriverError('destroy-unconfirmed', 'x', { admitted: 'unknown' })
  const err = new Error('the ledger is away')
  bench.world.onCall = failing({ destroy: cause, recordDestroyFailed: err })
  const options = { ...bench.options(), session, logger }
  await expect(bench.provider.release(ref, options)).rejects.toMatchObject({ cause })
  const fields = { workspace: 'box', sessionId: session.sessionId, code: undefined, err }
  expect(logger.lines).toEqual([{ level: 'error', message: logMessages.closeFailed, fields }])
})

it('of the session itself is ended also where a shared one is declared by now', async () => {
  const { bench, calls } = new Heard()
  const { ref } = await bench.open()
  calls.length = 0
  const config = { ...bench.config, id: 'team-box', shareAcrossSessions: true }
  await bench.provider.release(ref, { ...bench.options(), session, config })
  expect(calls.map(([name]) => name)).toEqual([
    'driver',
    'destroy',
    'recordDestroyed',
    'disconnect',
  ])
  expect(bench.world.containers.size).toBe(0)
})

it('needs no directory', async () => {
  const bench = new Bench()
  const { ref } = await bench.open()
  const options = { ...bench.options(), session }
  bench.world.onCall = ({ name }) => {
    if (name === 'destroy') throw new DriverError('failed', 'x', { admitted: 'no' })
  }
  expect(await codeOf(bench.provider.release(ref, options))).toBe('provider-failed')
  bench.world.onCall = () => {}
  await bench.provider.release(ref, options)
  expect(bench.world.containers.size).toBe(0)
})
