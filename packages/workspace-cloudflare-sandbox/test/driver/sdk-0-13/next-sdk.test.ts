// The SDK of the 0.13 line in workerd, over the container server of the test bed.
import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { SandboxTestbed } from '@helix-agents/sandbox-testbed'
import type { DriverCodeOutcome, DriverEntry, ExecOutcome } from '../../../src/driver/port.ts'
import { whyNoTestbed } from '../worker/availability.ts'
import { codesOf, drive, ENSURE, line, SPILL, startNextTestbed } from '../worker/drive.ts'
import { stdoutOf, valueOf } from '../worker/drive.ts'
import { madeBytes, makeBytes } from '../worker/wire.ts'
import type { Session, Step, StepResult } from '../worker/worker.ts'

const reason = await whyNoTestbed()
const files = (name: string, ...args: unknown[]): Step => ({ call: `files.${name}`, args })
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

describe.skipIf(reason !== undefined)('the SDK of the 0.13 line', () => {
  let testbed: SandboxTestbed
  const at = (
    sandbox: string,
    steps: readonly Step[],
    more: Partial<Session> = {},
  ): Promise<readonly StepResult[]> => drive(testbed, sandbox, [ENSURE, ...steps], more)
  beforeAll(async () => void (testbed = await startNextTestbed()), 180_000)
  afterAll(() => testbed.stop())

  it('is found out by what is installed', async () => {
    const [ensured, ran] = await at('found', [line('echo $((6 * 7))')], { detects: true })
    expect(valueOf(ensured)).toMatchObject({ outcome: 'created', placement: null })
    expect(stdoutOf(ran)).toBe('42\n')
  }, 120_000)

  it('has one transport', async () => {
    const [ensured] = await at('http', [], { transport: 'http' })
    expect(ensured?.error).toMatchObject({
      code: 'not-configured',
      message: expect.stringContaining('no transport http'),
    })
  }, 120_000)

  it('runs commands to their end, with their outputs as bytes', async () => {
    const results = await at('commands', [
      line("printf '\\357\\273\\277\\000a'; echo e >&2; exit 3"),
      line('sleep 30; echo never', { timeoutMs: 300 }),
      { ...line('echo ready; sleep 30; echo never'), abortAfterMs: 300 },
      { ...line('echo one; sleep 0.2; echo two'), listen: { takesMs: 0 } },
      line('pgrep -x sleep | wc -l'),
    ])
    const [, first, late, stopped, live, left] = results
    const outcome = valueOf<ExecOutcome>(first)
    expect([...outcome.stdout.bytes]).toEqual([0xef, 0xbb, 0xbf, 0, 0x61])
    expect([outcome.exitCode, new TextDecoder().decode(outcome.stderr.bytes)]).toEqual([3, 'e\n'])
    expect(valueOf(late)).toMatchObject({ timedOut: true })
    expect(valueOf(stopped)).toMatchObject({ aborted: true })
    expect(live?.pieces?.stdout).toBe('one\ntwo\n')
    expect(stdoutOf(left).trim()).toBe('0')
  }, 120_000)

  it('keeps every byte of files, at every size', async () => {
    for (const size of [0, 4096, 70_000, 1_500_000, 8_388_608]) {
      const path = `/workspace/sized/${size}`
      const [, written, read] = await at('files', [
        files('write', path, madeBytes(size)),
        { ...files('read', path), digest: true },
      ])
      expect(valueOf<DriverEntry>(written).sizeBytes).toBe(size)
      const expected = createHash('sha256').update(makeBytes(size)).digest('hex')
      expect(valueOf(read)).toBe(expected)
    }
    const results = await at('files', [
      files('read', '/workspace/none'),
      files('writeStream', '/workspace/streamed', 'by a stream'),
      files('list', '/workspace'),
      files('remove', '/workspace/sized', { recursive: true }),
    ])
    expect(codesOf(results.slice(1))).toEqual(['not-found', 'fine', 'fine', 'fine'])
    const names = valueOf<readonly DriverEntry[]>(results[3]).map(({ path }) => path)
    expect(names).toEqual(['sized', 'streamed'])
  }, 120_000)

  it('runs code and keeps contexts', async () => {
    const limits = {
      cwd: '/workspace',
      maxOutputBytes: 65_536,
      spillDirectory: SPILL,
      timeoutMs: 20_000,
    }
    const [, made] = await at('code', [
      { call: 'code.create', args: ['python', { cwd: '/workspace' }] },
    ])
    const context = valueOf<string>(made)
    const results = await at('code', [
      { call: 'code.run', args: [context, 'x = 20', limits] },
      { call: 'code.run', args: [context, 'x * 2 + 2', limits] },
      { call: 'code.runOnce', args: ['typescript', 'const y: number = 1; y + 1', limits] },
    ])
    expect(results.slice(1).map((one) => valueOf<DriverCodeOutcome>(one).exitCode)).toEqual([
      0, 0, 0,
    ])
    expect(valueOf<DriverCodeOutcome>(results[2]).outputs).toMatchObject([
      { type: 'result', value: '42' },
    ])
  }, 120_000)

  it('works on where the workspace was removed', async () => {
    const [, removed, written, ran] = await at('removed', [
      line('rm -rf /workspace'),
      files('write', '/workspace/again', madeBytes(2_000_000)),
      line('ls'),
    ])
    expect(codesOf([removed, written].filter((one) => one !== undefined))).toEqual(['fine', 'fine'])
    expect(stdoutOf(ran)).toBe('again\n')
  }, 120_000)

  it('takes snapshots and brings them back', async () => {
    const [, , taken] = await at('snapshots', [
      files('write', '/workspace/kept', bytes('kept')),
      { call: 'snapshots.take', args: ['/workspace', { ttlSeconds: 3600 }] },
    ])
    const limits = { maxBytes: 1_000_000, maxMembers: 100 }
    const [, , restored, ran] = await at('snapshots', [
      line('rm kept; echo > other'),
      { call: 'snapshots.restore', args: [valueOf(taken), '/workspace', limits] },
      line('ls; cat kept'),
    ])
    expect(restored?.error).toBeUndefined()
    expect(stdoutOf(ran)).toBe('kept\nkept')
  }, 120_000)

  it('notices another container, and ends what it has made', async () => {
    const [ensured] = await at('lost', [])
    const { epoch: knownEpoch } = valueOf<{ epoch: string }>(ensured)
    await testbed.crash('lost')
    const again: Step = { call: 'ensure', args: [{ knownEpoch }] }
    const destroy: Step = { call: 'destroy' }
    const [found, ended] = await drive(testbed, 'lost', [again, destroy])
    expect(valueOf(found)).toMatchObject({ outcome: 'cold' })
    expect(valueOf(ended)).toBe('destroyed')
    expect(await testbed.sandbox('lost')).toBeUndefined()
  }, 120_000)

  it('says of a call whose container went away that it may have run', async () => {
    const running = at('crash', [line('touch /tmp/started; sleep 30')])
    await expect.poll(() => testbed.sandbox('crash'), { timeout: 60_000 }).toBeDefined()
    await drive(testbed, 'crash', [
      line('until [ -e /tmp/started ]; do sleep 0.05; done', { cwd: '/' }),
    ])
    await testbed.crash('crash')
    const [, lost] = await running
    expect(lost?.error).toMatchObject({ code: 'interrupted', admitted: 'unknown' })
  }, 120_000)
})
