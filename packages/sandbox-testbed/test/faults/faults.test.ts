import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { startSandboxTestbed, type SandboxTestbed } from '../../src/index.ts'
import { callSandbox, execute, reasonToSkip, WORKER } from '../fixture/call.ts'

const skip = await reasonToSkip()

describe.skipIf(skip)('faults, as the SDK reports them', () => {
  let testbed: SandboxTestbed
  beforeAll(async () => {
    testbed = await startSandboxTestbed({ worker: WORKER })
  }, 120_000)
  afterAll(() => testbed?.stop())
  afterEach(() => testbed.faults.clear())

  const warm = async (sandbox: string) => {
    expect((await execute(testbed, sandbox, 'echo warm')).value?.stdout).toBe('warm\n')
  }

  it('waits for a slow start', async () => {
    const fault = testbed.faults.inject({ kind: 'slow-start', delayMs: 500, sandbox: 'slow' })
    const start = performance.now()
    await warm('slow')
    expect(performance.now() - start).toBeGreaterThan(500)
    expect(fault.hits).toBe(1)
  })

  it('wipes the disk of a sandbox that slept', async () => {
    await execute(testbed, 'sleepy', 'echo kept > /workspace/file')
    await testbed.sleepNow('sleepy')
    expect(await testbed.sandbox('sleepy')).toBeUndefined()
    const state = await callSandbox(testbed, { sandbox: 'sleepy', method: 'getState' })
    expect(state.value).toMatchObject({ status: 'stopped_with_code', exitCode: 0 })
    const first = await execute(testbed, 'sleepy', 'ls /workspace')
    const second = await execute(testbed, 'sleepy', 'ls /workspace')
    // Most often the first call meets the change of the container, and says so.
    const met = first.error?.code ?? 'none'
    expect(['OPERATION_INTERRUPTED', 'none']).toContain(met)
    expect(second.value?.stdout).toBe('')
  })

  it('interrupts the call that a crash meets', async () => {
    await warm('crashy')
    const pending = execute(testbed, 'crashy', 'sleep 20')
    await expect
      .poll(async () => (await execute(testbed, 'crashy', 'pgrep sleep')).value?.exitCode)
      .toBe(0)
    await testbed.crash('crashy')
    expect((await pending).error).toMatchObject({
      name: 'OperationInterruptedError',
      code: 'OPERATION_INTERRUPTED',
      context: { operation: 'commands.execute', admitted: true },
    })
    const state = await callSandbox(testbed, { sandbox: 'crashy', method: 'getState' })
    expect(state.value?.status).toMatch(/^stopped/)
  })

  it.each([
    ['no-instance', 'no_container_instance_available'],
    ['max-instances', 'max_container_instances_exceeded'],
  ] as const)(
    'has no room: %s',
    async (reason, expected) => {
      const sandbox = `full-${reason}`
      const fault = testbed.faults.inject({ kind: 'capacity', reason, sandbox })
      const impatient = { sandbox, binding: 'IMPATIENT' } as const
      const call = { ...impatient, method: 'exec', arguments: ['echo hi'] } as const
      expect((await callSandbox(testbed, call)).error).toMatchObject({
        name: 'ContainerUnavailableError',
        code: 'CONTAINER_UNAVAILABLE',
        context: { reason: expected, retryable: true },
      })
      expect(fault.hits).toBeGreaterThan(0)
      fault.remove()
      await callSandbox(testbed, { ...impatient, method: 'bePatient' })
      expect((await callSandbox(testbed, call)).value?.stdout).toBe('hi\n')
    },
    120_000,
  )

  it('never listens: the call waits until the container ends', async () => {
    const fault = testbed.faults.inject({ kind: 'never-listens', sandbox: 'mute', times: 1 })
    const pending = execute(testbed, 'mute', 'echo hi')
    await fault.happened
    await expect.poll(async () => (await testbed.sandbox('mute'))?.pid).toBeGreaterThan(0)
    await testbed.crash('mute')
    const { error } = await pending
    expect(error).toMatchObject({ code: 'INTERNAL_ERROR', context: { phase: 'startup' } })
    await warm('mute')
  })

  it('exits by itself in the middle of a call', async () => {
    testbed.faults.inject({ kind: 'exits', afterMs: 3000, exitCode: 3, sandbox: 'exits', times: 1 })
    const { error } = await execute(testbed, 'exits', 'sleep 20')
    // The second where the machine is so slow that the start took longer.
    expect(['OPERATION_INTERRUPTED', 'INTERNAL_ERROR']).toContain(error?.code)
  }, 120_000)

  it('loses the reply of a call that ran', async () => {
    await warm('lost')
    const fault = testbed.faults.inject({ kind: 'lost-reply', sandbox: 'lost', times: 1 })
    const pending = execute(
      testbed,
      'lost',
      'echo x >> /workspace/ran; until [ -e /tmp/go ]; do sleep 0.02; done',
    )
    const root = (await testbed.sandbox('lost'))?.root ?? ''
    await expect.poll(() => existsSync(join(root, 'workspace/ran'))).toBe(true)
    expect(fault.hits).toBe(0)
    writeFileSync(join(root, 'tmp/go'), '')
    await fault.happened
    const { error } = await pending
    expect(error).toMatchObject({
      code: 'OPERATION_INTERRUPTED',
      context: { reason: 'transport_disposed', admitted: true, retryable: false },
    })
    expect(fault.hits).toBe(1)
    expect((await execute(testbed, 'lost', 'cat /workspace/ran')).value?.stdout).toBe('x\n')
  })

  it('meets only the call that is named', async () => {
    await warm('named')
    testbed.faults.inject({ kind: 'lost-reply', call: 'files.readFile', sandbox: 'named' })
    await warm('named')
    const read = { sandbox: 'named', method: 'readFile', arguments: ['/etc/hostname'] }
    expect((await callSandbox(testbed, read)).error?.code).toBe('OPERATION_INTERRUPTED')
  })

  it('skips as many as it is told to', async () => {
    await warm('skips')
    const fault = { kind: 'lost-reply', sandbox: 'skips', skip: 2, times: 1 } as const
    const injected = testbed.faults.inject(fault)
    const codes: (string | undefined)[] = []
    for (let call = 0; call < 4; call++) {
      codes.push((await execute(testbed, 'skips', 'true')).error?.code)
    }
    expect([injected.hits, codes]).toEqual([
      1,
      [undefined, undefined, 'OPERATION_INTERRUPTED', undefined],
    ])
  })

  it.each([
    ['container', 'head -c 300000 /dev/zero', 'echo hi'],
    ['worker', `: ${'x'.repeat(100_000)}`, 'head -c 300000 /dev/zero'],
  ] as const)('cuts off what the %s sends', async (sender, long, short) => {
    const sandbox = `cut-off-${sender}`
    await warm(sandbox)
    const fault = { kind: 'cut-off', sender, afterBytes: 50_000, sandbox, times: 1 } as const
    const injected = testbed.faults.inject(fault)
    expect((await execute(testbed, sandbox, short)).error).toBeUndefined()
    expect(injected.hits).toBe(0)
    expect((await execute(testbed, sandbox, long)).error?.code).toBe('OPERATION_INTERRUPTED')
    expect(injected.hits).toBe(1)
  })

  it.each([
    ['before-admission', 1, ''],
    ['after-admission', 0, 'x\n'],
  ] as const)('cuts the connection %s', async (when, exitCode, stdout) => {
    const sandbox = `cut-${when}`
    await warm(sandbox)
    testbed.faults.inject({ kind: 'interrupted', when, sandbox, times: 1 })
    const { error } = await execute(testbed, sandbox, 'echo x >> /workspace/ran')
    expect(error).toMatchObject({
      code: 'OPERATION_INTERRUPTED',
      context: { reason: 'transport_disposed', admitted: true, retryable: false },
    })
    const expected = { exitCode, stdout }
    const seen = async () => (await execute(testbed, sandbox, 'cat /workspace/ran')).value
    await expect.poll(seen).toMatchObject(expected)
  })

  it('delays each message', async () => {
    await warm('far')
    const fault = testbed.faults.inject({ kind: 'slow-network', delayMs: 150, sandbox: 'far' })
    const start = performance.now()
    await warm('far')
    expect(performance.now() - start).toBeGreaterThan(300)
    expect(fault.hits).toBeGreaterThan(1)
  })

  it('holds messages back until the network thaws', async () => {
    await warm('cold')
    const fault = testbed.faults.inject({ kind: 'frozen-network', sandbox: 'cold' })
    let answered = false
    const pending = execute(testbed, 'cold', 'echo thawed').finally(() => (answered = true))
    await fault.happened
    expect(answered).toBe(false)
    fault.remove()
    expect((await pending).value?.stdout).toBe('thawed\n')
  })

  it('refuses to destroy, and the container goes on', async () => {
    await warm('stubborn')
    const before = await testbed.sandbox('stubborn')
    const fault = testbed.faults.inject({
      kind: 'rejected-destroy',
      step: 'both',
      sandbox: 'stubborn',
    })
    const destroy = { sandbox: 'stubborn', method: 'destroy' }
    expect((await callSandbox(testbed, destroy)).error?.message).toContain('internal error')
    expect((await testbed.sandbox('stubborn'))?.pid).toBe(before?.pid)
    fault.remove()
    expect((await callSandbox(testbed, destroy)).error).toBeUndefined()
    expect(await testbed.sandbox('stubborn')).toBeUndefined()
  })
})
