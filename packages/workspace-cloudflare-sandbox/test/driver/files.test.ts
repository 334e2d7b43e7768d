import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { SandboxTestbed } from '@helix-agents/sandbox-testbed'
import type { DriverEntry, ExecOutcome } from '../../src/driver/port.ts'
import { whyNoTestbed } from './worker/availability.ts'
import { drive, ENSURE, line, startDriverTestbed, valueOf } from './worker/drive.ts'
import { madeBytes, makeBytes } from './worker/wire.ts'
import type { Step, StepResult } from './worker/worker.ts'

const reason = await whyNoTestbed()
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
const text = (result: StepResult | undefined): string =>
  new TextDecoder('utf-8', { fatal: false, ignoreBOM: true }).decode(valueOf<Uint8Array>(result))
const printed = (result: StepResult | undefined): string =>
  new TextDecoder().decode(valueOf<ExecOutcome>(result).stdout.bytes)
const codes = (results: readonly StepResult[]): unknown[] =>
  results.map(({ error }) => error?.['code'] ?? 'fine')
const files = (name: string, ...args: unknown[]): Step => ({ call: `files.${name}`, args })

/** Of a write and a read. Two calls that are on their way at the same time are one round trip. */
const TRIPS = [
  [['exec'], ['exec']],
  [['writeFile', 'exec'], ['exec']],
  [
    ['writeFile', 'exec'],
    ['readFile', 'exec'],
  ],
] as const

describe.skipIf(reason !== undefined)('files', () => {
  let testbed: SandboxTestbed
  const at = (sandbox: string, ...steps: Step[]): Promise<readonly StepResult[]> =>
    drive(testbed, sandbox, [ENSURE, ...steps]).then((results) => results.slice(1))
  beforeAll(async () => void (testbed = await startDriverTestbed()), 180_000)
  afterAll(() => testbed.stop())

  it('keep every byte, at every size, in one round trip', async () => {
    const sizes = [0, 1, 4096, 16_384, 16_385, 70_000, 95_000, 300_000, 1_500_000, 8_388_608]
    for (const size of sizes) {
      const path = `/workspace/sized/${size}`
      const steps = [files('read', path), files('readStream', path)].map((step) => ({
        ...step,
        digest: true,
      }))
      const [written, read, stream, stat] = await at(
        'a',
        files('write', path, madeBytes(size)),
        ...steps,
        files('stat', path),
      )
      const expected = createHash('sha256').update(makeBytes(size)).digest('hex')
      expect([size, valueOf(read), valueOf(stream)]).toEqual([size, expected, expected])
      expect(valueOf(stat)).toMatchObject(valueOf<DriverEntry>(written))
      expect(valueOf<DriverEntry>(stat).sizeBytes).toBe(size)
      const trips = [written, read, stat].map((result) => result?.trips)
      expect(trips).toEqual([...TRIPS[size < 67_500 ? 0 : size < 1_048_576 ? 1 : 2], ['exec']])
    }
  }, 120_000)

  it('keep the permissions of a file, whether its version is asked for or not', async () => {
    for (const mode of ['644', '600', '755', '4755', '0', '444']) {
      const path = `/workspace/modes/${mode}`
      const set = line(`chmod ${mode} modes/${mode}; stat -c %a modes/${mode}`)
      const [, , seen] = await at(
        'modes',
        files('write', path, bytes('1')),
        set,
        files('stat', path),
      )
      const { version: ifVersion } = valueOf<DriverEntry>(seen)
      const [checked, ran, plain, again] = await at(
        'modes',
        files('write', path, bytes('2'), { ifVersion }),
        line(`stat -c %a modes/${mode}; umask 077; cat modes/${mode}`),
        files('write', path, bytes('3')),
        line(`stat -c %a modes/${mode}`),
      )
      expect([checked?.error, plain?.error]).toEqual([undefined, undefined])
      expect([ran, again].map(printed)).toEqual([`${mode}\n2`, `${mode}\n`])
    }
  }, 120_000)

  it('keep text as it is', async () => {
    for (const content of ["it's\n\n", 'zß水🍌', '\0', "''''", '%n ok\n', '\r\n', '\u{feff}']) {
      const [, read] = await at(
        'a',
        files('write', '/workspace/text', bytes(content)),
        files('read', '/workspace/text'),
      )
      expect(text(read)).toBe(content)
    }
  }, 120_000)

  it('read ranges, and refuse more than allowed', async () => {
    const path = '/workspace/range'
    const results = await at(
      'a',
      files('write', path, bytes('0123456789')),
      files('read', path, { offset: 3, length: 4 }),
      files('read', path, { offset: 8 }),
      files('read', path, { offset: 20 }),
      files('read', path, { length: 0 }),
      files('readStream', path, { offset: 2, length: 3 }),
      files('read', path, { maxBytes: 9 }),
      files('read', path, { maxBytes: 10 }),
    )
    expect(results.slice(1, 6).map(text)).toEqual(['3456', '89', '', '', '234'])
    expect(codes(results.slice(6))).toEqual(['too-large', 'fine'])
  })

  it('read parts of large files', async () => {
    const data = new Uint8Array(3_000_000).map((_, index) => index % 253)
    const path = '/workspace/large'
    const ranges = [{ offset: 100, length: 2_000_000 }, { offset: 1_999_999 }]
    const results = await at(
      'a',
      files('write', path, data),
      ...ranges.map((range) => files('readStream', path, range)),
      ...ranges.map((range) => files('read', path, range)),
    )
    for (const [index, result] of results.slice(1).entries()) {
      const { offset, length = data.length } = ranges[index % 2] as {
        offset: number
        length?: number
      }
      expect(
        Buffer.compare(result.value as Uint8Array, data.subarray(offset, offset + length)),
      ).toBe(0)
    }
  }, 120_000)

  it('change version with every change', async () => {
    const path = '/workspace/version'
    const steps = Array.from({ length: 12 }, (_, n) => files('write', path, bytes(`${n % 2}`)))
    const results = await at('a', ...steps, files('append', path, bytes('x')), files('stat', path))
    const versions = results.slice(0, -1).map(({ value }) => (value as DriverEntry).version)
    expect(new Set(versions).size).toBe(13)
    expect(valueOf<DriverEntry>(results.at(-1)).version).toBe(versions.at(-1))
  }, 120_000)

  it('write only under their conditions', async () => {
    const path = '/workspace/conditional'
    const [made] = await at('a', files('write', path, bytes('a'), { ifAbsent: true }))
    const { version } = valueOf<DriverEntry>(made)
    const results = await at(
      'a',
      files('write', path, bytes('b'), { ifAbsent: true }),
      files('write', path, bytes('b'), { ifVersion: 'other' }),
      files('write', path, bytes('b'), { ifVersion: version }),
      files('write', path, bytes('c'), { ifVersion: version }),
      files('write', '/workspace/none', bytes('c'), { ifVersion: version }),
      files('append', path, bytes('d'), { maxBytes: 1 }),
      files('append', path, bytes('d'), { maxBytes: 2 }),
      files('read', path),
    )
    expect(codes(results)).toEqual([
      'exists',
      'version-conflict',
      'fine',
      'version-conflict',
      'version-conflict',
      'too-large',
      'fine',
      'fine',
    ])
    expect(text(results.at(-1))).toBe('bd')
  })

  it('let one of many conditional writes win, and lose no append', async () => {
    const [made] = await at('race', files('write', '/workspace/r', bytes('0')))
    const { version } = valueOf<DriverEntry>(made)
    const writes = Array.from({ length: 8 }, (_, n) =>
      files('write', '/workspace/r', bytes(`w${n}`), { ifVersion: version }),
    )
    const fresh = Array.from({ length: 8 }, (_, n) =>
      files('write', '/workspace/new', bytes(`n${n}`), { ifAbsent: true }),
    )
    const appends = Array.from({ length: 8 }, (_, n) =>
      files('append', '/workspace/log', bytes(`${n}\n`)),
    )
    const results = await drive(testbed, 'race', [...writes, ...fresh, ...appends], {
      parallel: true,
    })
    expect(codes(results.slice(0, 8)).filter((code) => code === 'fine').length).toBe(1)
    expect(codes(results.slice(8, 16)).filter((code) => code === 'fine').length).toBe(1)
    expect(codes(results.slice(16)).filter((code) => code === 'fine').length).toBe(8)
    const [log] = await at('race', files('read', '/workspace/log'))
    expect(text(log).split('\n').toSorted()).toEqual(['', '0', '1', '2', '3', '4', '5', '6', '7'])
  }, 120_000)

  it('stream in, and leave nothing of a stream that failed', async () => {
    const big = 'x'.repeat(3_000_000)
    const results = await at(
      'a',
      files('writeStream', '/workspace/streamed', big),
      files('stat', '/workspace/streamed'),
      files('writeStream', '/workspace/s2', '', { ifAbsent: true }),
      line('find . -name ".helix-write-*" | wc -l'),
    )
    expect(codes(results)).toEqual(['fine', 'fine', 'fine', 'fine'])
    expect(valueOf<DriverEntry>(results[1]).sizeBytes).toBe(3_000_000)
    expect(new TextDecoder().decode(valueOf<ExecOutcome>(results[3]).stdout.bytes)).toBe('0\n')
  }, 120_000)

  it('go in as pieces when a message cannot hold them, and leave none', async () => {
    const size = 2 * 8_388_608 + 5
    const results = await at(
      'a',
      files('write', '/workspace/whole', madeBytes(size)),
      files('writeStream', '/workspace/streamed', 'x'.repeat(size)),
      line(
        'sha256sum <whole; stat -c %s streamed; tr -d x <streamed | wc -c; find . -name ".helix-write-*"',
      ),
    )
    expect(codes(results)).toEqual(['fine', 'fine', 'fine'])
    const expected = createHash('sha256').update(makeBytes(size)).digest('hex')
    const told = new TextDecoder().decode(valueOf<ExecOutcome>(results[2]).stdout.bytes)
    expect(told).toBe(`${expected}  -\n${size}\n0\n`)
    const joins = ['writeFile', 'writeFile', 'exec', 'writeFile', 'exec', 'exec']
    expect(results.slice(0, 2).map(({ trips }) => trips)).toEqual([joins, joins])
  }, 120_000)

  it('say what is wrong with a path', async () => {
    const results = await at(
      'b',
      files('write', '/workspace/f', bytes('x')),
      files('makeDirectory', '/workspace/d'),
      files('write', '/workspace/d/in', bytes('x')),
      files('read', '/workspace/d'),
      files('read', '/workspace/f/x'),
      files('read', '/workspace/none/x'),
      files('write', '/workspace/d', bytes('x')),
      files('write', '/workspace/f/x', bytes('x')),
      files('list', '/workspace/f'),
      files('list', '/workspace/none'),
      files('makeDirectory', '/workspace/d'),
      files('makeDirectory', '/workspace/d', { recursive: true }),
      files('makeDirectory', '/workspace/x/y'),
      files('makeDirectory', '/workspace/x/y', { recursive: true }),
      files('makeDirectory', '/workspace/f'),
      files('remove', '/workspace/d'),
      files('remove', '/workspace/none'),
      files('remove', '/workspace/d', { recursive: true }),
      files('write', `/workspace/${'n'.repeat(300)}`, bytes('x')),
      files('stat', '/workspace'),
      files('remove', '/workspace', { recursive: true }),
      files('list', '/workspace'),
    )
    expect(codes(results)).toEqual([
      'fine',
      'fine',
      'fine',
      'is-directory',
      'not-directory',
      'not-found',
      'is-directory',
      'not-directory',
      'not-directory',
      'not-found',
      'exists',
      'fine',
      'not-found',
      'fine',
      'exists',
      'not-empty',
      'not-found',
      'fine',
      'name-too-long',
      'fine',
      'fine',
      'fine',
    ])
    expect(results.at(-1)?.value).toEqual([])
  })
})
