// The end of a sandbox that a session has let go.
import type { SandboxDirectory } from '@helix-agents/workspace-cloudflare-sandbox'
import { DriverError } from '@helix-agents/workspace-cloudflare-sandbox'
import { expect, it } from 'vitest'
import { Bench, codeOf, session } from '../double/open-on-double.ts'

/** A bench whose directory and container record in one list. */
function bench(config: ConstructorParameters<typeof Bench>[0] = {}) {
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
  const { calls, made, options } = bench()
  const { ref } = await made.open()
  made.world.onCall = ({ name }) => void calls.push(name)
  await made.provider.release(ref, options())
  expect(calls).toEqual(['destroy', 'recorded', 'disconnect'])
  expect(made.world.containers.size).toBe(0)
  expect(await codeOf(made.resolve(ref))).toBe('lost')
})

it('that is not confirmed is owed', async () => {
  const { calls, made, options } = bench()
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
  const { calls, made, options } = bench()
  const { ref } = await made.open()
  expect(await codeOf(made.provider.release(ref, options('other')))).toBe('ref-invalid')
  const shared = bench({ id: 'team-box', shareAcrossSessions: true })
  const opened = await shared.made.open()
  await shared.made.provider.release(opened.ref, shared.options())
  expect([calls, shared.calls, shared.made.world.containers.size]).toEqual([[], [], 1])
})
