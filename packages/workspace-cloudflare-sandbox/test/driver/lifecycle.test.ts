import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { SandboxTestbed } from '@helix-agents/sandbox-testbed'
import type {
  DriverSnapshot,
  EnsureOutcome,
  ExecOutcome,
  SandboxIdentity,
} from '../../src/driver/port.ts'
import { whyNoTestbed } from './worker/availability.ts'
import { drive, ENSURE, line, startDriverTestbed, valueOf } from './worker/drive.ts'
import type { Step, StepResult } from './worker/worker.ts'

const reason = await whyNoTestbed()
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
const write: Step = { call: 'files.write', args: ['/workspace/kept', bytes('x')] }
const read: Step = { call: 'files.read', args: ['/workspace/kept'] }
const stdout = (result: StepResult | undefined): string => {
  if (result?.error !== undefined) throw new Error(JSON.stringify(result.error))
  return new TextDecoder().decode(valueOf<ExecOutcome>(result).stdout.bytes)
}
const ensured = (result: StepResult | undefined): EnsureOutcome => result?.value as EnsureOutcome
const codeOf = ({ error }: StepResult): unknown => error?.['code'] ?? 'fine'

describe.skipIf(reason !== undefined)('lifecycle', () => {
  let testbed: SandboxTestbed
  beforeAll(async () => void (testbed = await startDriverTestbed()), 180_000)
  afterAll(() => testbed.stop())

  it('knows its container again, and one that slept', async () => {
    const [made, again] = await drive(testbed, 'sleeper', [ENSURE, ENSURE, write])
    const { epoch, outcome } = ensured(made)
    expect([outcome, ensured(again)]).toEqual([
      'created',
      { ...ensured(made), outcome: 'reattached' },
    ])
    await testbed.sleepNow('sleeper')
    const known: Step = { call: 'ensure', args: [{ knownEpoch: epoch }] }
    const [cold, warm, gone] = await drive(testbed, 'sleeper', [known, ENSURE, read])
    expect([ensured(cold).outcome, ensured(cold).epoch === epoch]).toEqual(['cold', false])
    expect(ensured(warm)).toEqual({ ...ensured(cold), outcome: 'reattached' })
    expect(gone?.error?.['code']).toBe('not-found')
    expect(warm?.trips).toEqual(['exec', 'getContainerPlacementId'])
  }, 120_000)

  it('does nothing in a container that slept since', async () => {
    const session = drive(testbed, 'stale', [
      ENSURE,
      line('touch begun; sleep 300', { timeoutMs: 400_000 }),
      line('touch made'),
      write,
      read,
      { call: 'processes.list' },
      ENSURE,
      line('ls'),
    ])
    const begun = async (): Promise<unknown> =>
      (await drive(testbed, 'stale', [{ call: 'files.stat', args: ['/workspace/begun'] }]))[0]
        ?.error
    await expect.poll(begun, { timeout: 60_000 }).toBeUndefined()
    await testbed.sleepNow('stale')
    const results = await session
    // What was pending or came at once may have reached either container; later calls know.
    for (const { error } of results.slice(1, 6)) expect(error?.['code']).toBe('interrupted')
    for (const { error } of results.slice(3, 6)) {
      expect(error).toMatchObject({ admitted: 'no', reason: 'asleep' })
    }
    expect(stdout(results[7])).toBe('')
  }, 120_000)

  it('is marked once, however many look at a new container at once', async () => {
    const [first] = await drive(testbed, 'crowd', [ENSURE])
    expect(ensured(first).outcome).toBe('created')
    for (let round = 0; round < 25; round += 1) {
      const unmarked = line('rm -rf /var/tmp/.helix /etc/.helix*', { cwd: '/' })
      await drive(testbed, 'crowd', [ENSURE, unmarked])
      const looks = Array.from({ length: 8 }, () => ENSURE)
      const results = await drive(testbed, 'crowd', looks, { parallel: true })
      expect(results.map(codeOf)).toEqual(looks.map(() => 'fine'))
      expect(new Set(results.map((result) => ensured(result).epoch)).size).toBe(1)
    }
  }, 120_000)

  it('tells its identity without a start', async () => {
    const [asked] = await drive(testbed, 'never', [{ call: 'identity' }])
    expect(valueOf<SandboxIdentity>(asked).running).toBe(false)
    expect(await testbed.sandbox('never')).toBeUndefined()
  })

  it('ends, and is absent afterwards', async () => {
    const results = await drive(testbed, 'ended', [
      ENSURE,
      { call: 'destroy' },
      { call: 'identity' },
      { call: 'destroy' },
      ENSURE,
    ])
    expect(results.slice(1, 4).map(({ value }) => value)).toEqual([
      'destroyed',
      { placement: null, running: false },
      'was-absent',
    ])
    expect(ensured(results[4]).outcome).toBe('created')
    expect(ensured(results[4]).epoch).not.toBe(ensured(results[0]).epoch)
  }, 120_000)

  const states = {
    missing: 'rm -rf /workspace',
    're-created': 'rm -rf /workspace; mkdir /workspace',
    'a file': 'rm -rf /workspace; echo data > /workspace',
    'a dangling link': 'rm -rf /workspace; ln -s /none /workspace',
    'a link to a directory':
      'mkdir /tmp/real; echo secret > /tmp/real/kept; rm -rf /workspace; ln -s /tmp/real /workspace',
  }
  const expected: Record<keyof typeof states, readonly unknown[]> = {
    missing: ['fine', 'fine', 'fine'],
    're-created': ['fine', 'fine', 'fine'],
    'a file': ['directory-missing', 'directory-missing', 'directory-missing'],
    'a dangling link': ['directory-missing', 'directory-missing', 'directory-missing'],
    'a link to a directory': ['fine', 'fine', 'fine'],
  }
  it.each(Object.keys(states) as (keyof typeof states)[])(
    'works or says why when the workspace is %s',
    async (state) => {
      const id = `state-${state.replaceAll(/\W/g, '')}`
      const outside = { cwd: '/' }
      const results = await drive(testbed, id, [
        ENSURE,
        line(states[state], outside),
        line('pwd'),
        write,
        read,
        { call: 'files.write', args: ['/workspace/large', new Uint8Array(3_000_000)] },
        { call: 'files.write', args: ['/tmp/other', bytes('o')] },
        { call: 'files.read', args: ['/tmp/other'] },
        line('echo out', outside),
        line('pwd', { cwd: '/workspace/none' }),
        line('rm -f /workspace; mkdir -p /workspace', outside),
        line('pwd'),
        write,
        read,
      ])
      expect(results.slice(2, 5).map(codeOf)).toEqual(expected[state])
      expect(codeOf(results[5] as StepResult)).toBe(expected[state][1])
      expect(results.slice(6, 9).map(codeOf)).toEqual(['fine', 'fine', 'fine'])
      expect(codeOf(results[9] as StepResult)).toBe('directory-missing')
      expect(results.slice(10).map(codeOf)).toEqual(['fine', 'fine', 'fine', 'fine'])
      expect(stdout(results[11])).toBe('/workspace\n')
      expect(stdout(results[8])).toBe('out\n')
    },
    120_000,
  )

  it('keeps user data when the workspace is a file', async () => {
    const results = await drive(testbed, 'data', [
      ENSURE,
      line('rm -rf /workspace; echo data > /workspace', { cwd: '/' }),
      line('true'),
      write,
      line('cat /workspace', { cwd: '/' }),
    ])
    expect(stdout(results[4])).toBe('data\n')
    expect(results[2]?.error?.['message']).toContain('move the file away')
  }, 120_000)

  it('takes and restores snapshots, exactly', async () => {
    const limits = { maxBytes: 1e9, maxMembers: 1e6 }
    const results = await drive(testbed, 'snap', [
      ENSURE,
      line('mkdir -p d/.h; echo 1 > a; echo 2 > d/.h/b; ln -s a l; chmod 755 a'),
      { call: 'snapshots.take', args: ['/workspace', { ttlSeconds: 600, name: 'one' }] },
    ])
    const snapshot = valueOf<DriverSnapshot>(results[2])
    expect(snapshot).toMatchObject({
      directory: '/workspace',
      local: true,
      members: 5,
      totalBytes: 4,
    })
    const restore = (of: DriverSnapshot, to: string, within = limits): Step => ({
      call: 'snapshots.restore',
      args: [of, to, within],
    })
    const restored = await drive(testbed, 'snap', [
      ENSURE,
      line('echo more > a; echo new > .hidden; mkdir -p extra/deep; rm -rf d'),
      restore(snapshot, '/workspace'),
      line('find . | sort; cat a d/.h/b l; test -x a && echo x'),
      restore(snapshot, '/workspace', { ...limits, maxMembers: 4 }),
      restore(snapshot, '/workspace', { ...limits, maxBytes: 3 }),
      restore({ ...snapshot, expiresAtMs: 1 }, '/workspace'),
      restore({ ...snapshot, id: crypto.randomUUID() }, '/tmp/empty'),
      line('ls -A | wc -l'),
    ])
    // As a model would have it: nothing in it, for ever.
    const forged = { ...snapshot, members: 0, totalBytes: 0, expiresAtMs: 8.64e15, local: false }
    const edges = await drive(testbed, 'snap-3', [
      ENSURE,
      restore(snapshot, '/workspace', { maxMembers: 5, maxBytes: 4 }),
      restore(snapshot, '/workspace', { maxMembers: 6, maxBytes: 5 }),
      line('ls -A | wc -l'),
      restore(forged, '/workspace', { maxMembers: 5, maxBytes: 4 }),
      restore(forged, '/workspace', { ...limits, maxMembers: 4 }),
      restore(forged, '/workspace', { ...limits, maxBytes: 3 }),
      line('ls -A | wc -l'),
    ])
    const TOO_LARGE = 'snapshot-too-large'
    expect(edges.slice(1, 7).map(codeOf)).toEqual([
      'fine',
      'fine',
      'fine',
      'fine',
      TOO_LARGE,
      TOO_LARGE,
    ])
    // What turned out to be too large is not left half unpacked.
    expect([stdout(edges[3]), stdout(edges[7])]).toEqual(['3\n', '0\n'])
    expect(stdout(restored[3])).toBe('.\n./a\n./d\n./d/.h\n./d/.h/b\n./l\n1\n2\n1\nx\n')
    expect(restored.slice(4, 8).map(codeOf)).toEqual([
      'snapshot-too-large',
      'snapshot-too-large',
      'snapshot-expired',
      'snapshot-missing',
    ])
    expect(stdout(restored[8])).toBe('3\n')
    const elsewhere = await drive(testbed, 'snap-2', [
      ENSURE,
      restore(snapshot, '/workspace'),
      line('cat a'),
    ])
    expect(stdout(elsewhere[2])).toBe('1\n')
  }, 120_000)

  it('mounts a bucket, and again without harm', async () => {
    const mount: Step = {
      call: 'mount',
      args: [{ bucket: 'BACKUP_BUCKET', path: '/workspace/mounted', local: true, prefix: 'p' }],
    }
    const results = await drive(testbed, 'mounts', [ENSURE, mount, mount, line('ls -d mounted')])
    expect(results.map(codeOf)).toEqual(['fine', 'fine', 'fine', 'fine'])
  }, 120_000)
})
