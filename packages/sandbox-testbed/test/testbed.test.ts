import { existsSync, readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  containerEngineAvailability,
  SandboxTestbedError,
  startSandboxTestbed,
  type SandboxTestbed,
} from '../src/index.ts'
import { callSandbox, execute, reasonToSkip, WORKER } from './fixture/call.ts'

const skip = await reasonToSkip()

describe.skipIf(skip)('a test bed', () => {
  let testbed: SandboxTestbed
  beforeAll(async () => {
    testbed = await startSandboxTestbed({ worker: WORKER })
  }, 120_000)
  afterAll(() => testbed?.stop())

  it('runs a command through the real SDK', async () => {
    const { value } = await execute(testbed, 'one', 'echo hi; echo no >&2; exit 4')
    expect(value).toMatchObject({ stdout: 'hi\n', stderr: 'no\n', exitCode: 4, success: false })
  })

  it('knows the container of a sandbox by the id of its object', async () => {
    await execute(testbed, 'two', 'true')
    const namespace = await testbed.miniflare.getDurableObjectNamespace('SANDBOX')
    const running = await testbed.sandbox('two')
    expect(running?.objectId).toBe(namespace.idFromName('two').toString())
    expect(await testbed.sandboxes()).toContainEqual(running)
    expect(await testbed.sandbox('never-used')).toBeUndefined()
  })

  it('keeps sandboxes apart', async () => {
    await execute(testbed, 'left', 'echo left > /workspace/side')
    const { value } = await execute(testbed, 'right', 'cat /workspace/side')
    expect(value?.exitCode).toBe(1)
  })

  it('backs up into the bucket of the Worker and restores', async () => {
    await execute(testbed, 'saved', 'mkdir /workspace/d; echo one > /workspace/d/f')
    const create = {
      method: 'createBackup',
      arguments: [{ dir: '/workspace/d', localBucket: true }],
    }
    const backup = await callSandbox(testbed, { sandbox: 'saved', ...create })
    expect(backup.error).toBeUndefined()
    const bucket = await testbed.miniflare.getR2Bucket('BACKUP_BUCKET')
    expect((await bucket.list()).objects).toHaveLength(2)
    await execute(testbed, 'saved', 'rm /workspace/d/f')
    const restore = { method: 'restoreBackup', arguments: [backup.value] }
    expect((await callSandbox(testbed, { sandbox: 'saved', ...restore })).error).toBeUndefined()
    expect((await execute(testbed, 'saved', 'cat /workspace/d/f')).value?.stdout).toBe('one\n')
  })

  it.each(['http', 'websocket'] as const)('refuses %s with what to do', async (transport) => {
    const call = { method: 'exec', arguments: ['true'] }
    const sandbox = `by-${transport}`
    const { error } = await callSandbox(testbed, { sandbox, transport, ...call })
    expect(error?.message).toContain('set SANDBOX_TRANSPORT to rpc')
  })

  it('tells when no container runs', async () => {
    await expect(testbed.crash('nobody')).rejects.toMatchObject({ code: 'sandbox-not-running' })
  })
})

describe.skipIf(skip)('the end of a test bed', () => {
  it('leaves no process and no file', async () => {
    const testbed = await startSandboxTestbed({ worker: WORKER })
    await execute(testbed, 'gone', 'setsid sleep 1000 >/dev/null 2>&1 & true')
    const running = await testbed.sandbox('gone')
    await Promise.all([testbed.stop(), testbed.stop()])
    expect(existsSync(`/proc/${running?.pid}`)).toBe(false)
    const left = readdirSync(tmpdir()).filter((name) =>
      name.startsWith(`helix-testbed-${process.pid}-`),
    )
    expect(left).toEqual([])
  }, 120_000)
})

const engine = await containerEngineAvailability()
if (!engine.available) process.stderr.write(`skipped: ${engine.reason}\n`)

describe.skipIf(!engine.available)('a real container engine', () => {
  it('runs the image of the SDK', async () => {
    await using testbed = await startSandboxTestbed({ worker: WORKER, engine: 'docker' })
    const { value } = await execute(testbed, 'real', 'echo hi')
    expect(value?.stdout).toBe('hi\n')
    expect(() => testbed.faults.inject({ kind: 'frozen-network' })).toThrow(SandboxTestbedError)
  }, 120_000)
})
