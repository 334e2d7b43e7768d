import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { SandboxTestbed } from '@helix-agents/sandbox-testbed'
import type { DriverEntry, ExecOutcome, SearchOutcome } from '../../src/driver/port.ts'
import { whyNoTestbed } from './worker/availability.ts'
import { drive, ENSURE, line, startDriverTestbed, valueOf } from './worker/drive.ts'
import type { Step, StepResult } from './worker/worker.ts'

const reason = await whyNoTestbed()
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
const text = (result: StepResult | undefined): string =>
  new TextDecoder('utf-8', { fatal: false, ignoreBOM: true }).decode(valueOf<Uint8Array>(result))
const codes = (results: readonly StepResult[]): unknown[] =>
  results.map(({ error }) => error?.['code'] ?? 'fine')
const files = (name: string, ...args: unknown[]): Step => ({ call: `files.${name}`, args })

describe.skipIf(reason !== undefined)('file trees', () => {
  let testbed: SandboxTestbed
  const at = (sandbox: string, ...steps: Step[]): Promise<readonly StepResult[]> =>
    drive(testbed, sandbox, [ENSURE, ...steps]).then((results) => results.slice(1))
  beforeAll(async () => void (testbed = await startDriverTestbed()), 180_000)
  afterAll(() => testbed.stop())

  it('copy and move', async () => {
    const results = await at(
      'c',
      line(
        'mkdir -p d/sub; echo 1 > d/a; echo 2 > d/sub/.b; ln -s a d/link; echo f > f; chmod 755 f',
      ),
      files('copy', '/workspace/f', '/workspace/new/f2'),
      files('copy', '/workspace/f', '/workspace/d/a'),
      files('copy', '/workspace/f', '/workspace/d/a', { overwrite: true }),
      files('copy', '/workspace/f', '/workspace/d', { overwrite: true }),
      files('copy', '/workspace/d', '/workspace/e'),
      files('copy', '/workspace/d', '/workspace/d/inside'),
      files('move', '/workspace/e', '/workspace/moved/e'),
      files('move', '/workspace/moved/e', '/workspace/moved/e/in'),
      files('move', '/workspace/f', '/workspace/d/a'),
      files('move', '/workspace/f', '/workspace/d/a', { overwrite: true }),
      files('move', '/workspace/none', '/workspace/x'),
      line(
        'find . -name .helix -prune -o -print | sort; cat d/a moved/e/a; test -x new/f2 && echo executable',
      ),
    )
    expect(codes(results)).toEqual([
      'fine',
      'fine',
      'exists',
      'fine',
      'is-directory',
      'fine',
      'failed',
      'fine',
      'failed',
      'exists',
      'fine',
      'not-found',
      'fine',
    ])
    const { stdout } = valueOf<ExecOutcome>(results.at(-1))
    expect(new TextDecoder().decode(stdout.bytes).split('\n')).toEqual([
      '.',
      './d',
      './d/a',
      './d/link',
      './d/sub',
      './d/sub/.b',
      './moved',
      './moved/e',

      './moved/e/a',
      './moved/e/link',
      './moved/e/sub',
      './moved/e/sub/.b',
      './new',
      './new/f2',
      'f',
      'f',
      'executable',
      '',
    ])
  }, 120_000)

  it('list, search and read many', async () => {
    const odd = 'odd \' "\n*'
    const results = await at(
      'd',
      files('write', `/workspace/${odd}/x`, bytes('needle one')),
      files('write', '/workspace/.hidden', bytes('a\nNEEDLE two\n')),
      files('write', '/workspace/b/水', bytes('nothing')),
      files('write', '/workspace/.helix/x', bytes('needle')),
      files('write', '/workspace/huge', new Uint8Array(200_000).fill(110)),
      files('list', '/workspace', { recursive: true, skip: '.helix' }),
      files('list', '/workspace', { maxEntries: 2 }),
      files('search', '/workspace', {
        literal: 'needle',
        ignoreCase: false,
        maxFileBytes: 1000,
        maxFiles: 10,
        skip: '.helix',
      }),
      files('search', '/workspace', {
        literal: 'needle',
        ignoreCase: true,
        maxFileBytes: Infinity,
        maxFiles: 10,
      }),
      files('search', '/workspace', {
        literal: '',
        ignoreCase: false,
        maxFileBytes: 1000,
        maxFiles: 2,
      }),
      files('search', '/workspace/.hidden', {
        literal: 'NEEDLE',
        ignoreCase: false,
        maxFileBytes: 1000,
        maxFiles: 2,
      }),
      files('search', '/workspace/none', {
        literal: 'x',
        ignoreCase: false,
        maxFileBytes: 1000,
        maxFiles: 2,
      }),
      files('readMany', ['/workspace/.hidden', '/workspace/none', '/workspace/b/水'], {
        maxBytes: 1000,
      }),
      files('readMany', ['/workspace/huge', '/workspace/b/水'], { maxBytes: 1000 }),
    )
    const paths = (index: number): unknown =>
      valueOf<DriverEntry[]>(results[index])
        .toSorted((a, b) => (a.path < b.path ? -1 : 1))
        .map((entry) => `${entry.type} ${entry.path}`)
    expect(paths(5)).toEqual([
      'file .hidden',
      'directory b',
      'file b/水',
      'file huge',
      `directory ${odd}`,
      `file ${odd}/x`,
    ])
    expect(results[6]?.error?.['code']).toBe('too-large')
    expect(results[7]?.value).toEqual({ paths: [`${odd}/x`], tooLarge: ['huge'], complete: true })
    const { paths: found, ...rest } = valueOf<SearchOutcome>(results[8])
    expect(found.toSorted()).toEqual(['.helix/x', '.hidden', `${odd}/x`])
    expect(rest).toEqual({ tooLarge: [], complete: true })
    expect(valueOf<{ complete: boolean }>(results[9]).complete).toBe(false)
    expect(results[10]?.value).toEqual({ paths: [''], tooLarge: [], complete: true })
    expect(results[11]?.error?.['code']).toBe('not-found')
    expect(
      valueOf<{ bytes?: Uint8Array }[]>(results[12]).map(
        ({ bytes: got }) => got && new TextDecoder().decode(got),
      ),
    ).toEqual(['a\nNEEDLE two\n', undefined, 'nothing'])
    expect(
      valueOf<{ bytes?: Uint8Array }[]>(results[13]).map(({ bytes: got }) => got?.length),
    ).toEqual([200_000])
    for (const { trips } of results) expect(trips.length).toBeLessThanOrEqual(2)
  }, 120_000)

  it('follow links inside and none that lead out', async () => {
    const results = await at(
      'e',
      line(
        'mkdir -p /tmp/out d; echo secret > /tmp/out/s; echo in > d/a; ln -s d inside; ln -s /tmp/out out; ln -s /tmp/out/s file; ln -s ../../tmp/out/s up; ln -s none gone; ln -s loop loop; ln -s d/a alias',
      ),
      files('read', '/workspace/inside/a'),
      files('read', '/workspace/alias'),
      files('write', '/workspace/alias', bytes('new')),
      files('read', '/workspace/d/a'),
      files('read', '/workspace/out/s'),
      files('read', '/workspace/file'),
      files('read', '/workspace/up'),
      files('write', '/workspace/out/new', bytes('x')),
      files('write', '/workspace/out/deep/new', bytes('x')),
      files('write', '/workspace/file', bytes('x')),
      files('list', '/workspace/out'),
      files('copy', '/workspace/file', '/workspace/stolen'),
      files('move', '/workspace/d/a', '/workspace/out/a'),
      files('search', '/workspace/out', {
        literal: 'secret',
        ignoreCase: false,
        maxFileBytes: 1000,
        maxFiles: 10,
      }),
      files('search', '/workspace', {
        literal: 'secret',
        ignoreCase: false,
        maxFileBytes: 1000,
        maxFiles: 10,
      }),
      files('read', '/workspace/gone'),
      files('read', '/workspace/loop'),
      files('readMany', ['/workspace/file', '/workspace/alias'], { maxBytes: 1000 }),
      files('remove', '/workspace/out', { recursive: true }),
      line('cat /tmp/out/s; ls -A /tmp/out; test -L inside && echo link'),
    )
    const escape = 'path-escape'
    expect(codes(results)).toEqual([
      'fine',
      'fine',
      'fine',
      'fine',
      'fine',
      escape,
      escape,
      escape,
      escape,
      escape,
      escape,
      escape,
      escape,
      escape,
      escape,
      'fine',
      'not-found',
      'not-found',
      'fine',
      'fine',
      'fine',
    ])
    expect(text(results[4])).toBe('new')
    expect(valueOf<{ paths: string[] }>(results[15]).paths).toEqual([])
    expect(
      valueOf<{ bytes?: Uint8Array }[]>(results[18]).map(({ bytes: got }) => got?.length),
    ).toEqual([undefined, 3])
    const { stdout } = valueOf<ExecOutcome>(results.at(-1))
    expect(new TextDecoder().decode(stdout.bytes)).toBe('secret\ns\nlink\n')
  }, 120_000)
})
