import { inspect } from 'node:util'
import { createSdkDriver, type SandboxNamespace } from '@helix-agents/workspace-cloudflare-sandbox'
import { describe, expect, test } from 'vitest'
import { parseSandboxConfig } from '../src/config.ts'
import { Bench, codeOf, kind } from './double/open-on-double.ts'

const parse = (config: object): unknown => parseSandboxConfig({ kind, ...config })

function errorOf(config: object): Error | undefined {
  try {
    parse(config)
    return undefined
  } catch (error) {
    return error as Error
  }
}

const problemOf = (config: object): string => errorOf(config)?.message ?? 'accepted'

const numbers = [
  'defaultTimeoutMs',
  'callTimeoutMs',
  'maxOutputBytes',
  'maxWholeReadBytes',
  'maxSearchedFiles',
  'maxRestoreBytes',
  'maxRestoreMembers',
] as const

test('defaults', () => {
  expect(parse({})).toEqual({
    kind,
    destroyOnClose: false,
    backupTtlSeconds: 259_200,
    transport: 'rpc',
    env: {},
    mounts: [],
    autoRestore: false,
  })
})

describe('an id', () => {
  test.each(['a', 'team-box', 'x'.repeat(63), '0'])('%s is accepted', (id) => {
    expect(problemOf({ id, shareAcrossSessions: true })).toBe('accepted')
  })

  test.each([
    '',
    'Team-Box',
    '-a',
    'a-',
    'a_b',
    'a.b',
    'x'.repeat(64),
    'www',
    'root',
    'hx-abc',
    'é',
  ])('%j is refused', (id) => {
    expect(problemOf({ id, shareAcrossSessions: true })).toMatch(/cloudflare-sandbox: id: /)
  })
})

test.each([
  [{ backupR2Binding: 'OTHER' }, /backupR2Binding: must be BACKUP_BUCKET/],
  [{ autoRestore: true }, /autoRestore: needs backupR2Binding/],
  [
    { autoRestore: true, backupR2Binding: 'BACKUP_BUCKET', id: 'a', shareAcrossSessions: true },
    /autoRestore: would bring files of one session over/,
  ],
  [
    { backupR2Binding: 'BACKUP_BUCKET', mounts: [{ bucket: 'B', path: '/workspace' }] },
    /backupR2Binding: a restore would write into the mount/,
  ],
  [{ shareAcrossSessions: true }, /shareAcrossSessions: needs an id/],
  [{ sleepAfter: 'soon' }, /sleepAfter/],
  [{ sleepAfter: -1 }, /sleepAfter/],
  [{ sleepAfter: 0 }, /sleepAfter/],
  [{ sleepAfter: Number.NaN }, /sleepAfter/],
  [{ sleepAfter: 1.5 }, /sleepAfter/],
  [{ sleepAfter: '0s' }, /sleepAfter/],
  [{ sleepAfter: '10d' }, /sleepAfter/],
  [{ destroyOnClose: 'yes' }, /destroyOnClose/],
  [{ backupTtlSeconds: 60 }, /backupTtlSeconds: has to be more than a minute/],
  [{ backupTtlSeconds: Number.NaN }, /backupTtlSeconds/],
  [{ backupTtlSeconds: Number.POSITIVE_INFINITY }, /backupTtlSeconds/],
  [{ backupTtlSeconds: 1e12 }, /backupTtlSeconds/],
  [{ sleepafter: '10m' }, /sleepafter/],
  [{ mounts: [{ bucket: '', path: '/a' }] }, /mounts\.0\.bucket/],
  [
    { mounts: Array.from({ length: 17 }, (_, n) => ({ bucket: `B${n}`, path: `/b${n}` })) },
    /mounts/,
  ],
  [{ mounts: [{ bucket: 'B', path: '/a', endpoint: 'ftp://h' }] }, /mounts\.0\.endpoint/],
  [{ transport: 'carrier-pigeon' }, /transport/],
  [{ env: { 'A-B': 'x' } }, /env/],
  [{ env: { A: 'x\0' } }, /env\.A: holds a NUL/],
  [{ mounts: [{ bucket: 'B', path: 'data' }] }, /mounts\.0\.path/],
  [{ mounts: [{ bucket: 'B', path: '/a/../b' }] }, /mounts\.0\.path: holds dots/],
  [
    {
      mounts: [
        { bucket: 'B', path: '/a' },
        { bucket: 'B', path: '/b' },
      ],
    },
    /B is there twice/,
  ],
  [
    {
      mounts: [
        { bucket: 'B', path: '/a' },
        { bucket: 'C', path: '/a' },
      ],
    },
    /two are at \/a/,
  ],
])('%j is refused by name', (config, problem) => {
  expect(problemOf(config)).toMatch(problem)
})

describe('the bindings of the Worker', () => {
  const config = {
    backupR2Binding: 'BACKUP_BUCKET',
    mounts: [{ bucket: 'DATA', path: '/data' }],
  } as const

  test('all that are missing are named at once', async () => {
    const bench = new Bench(config, { bindings: { R2_ACCESS_KEY_ID: 'x' }, localBuckets: false })
    const error = await bench.open().catch((each: unknown) => each)
    expect(error).toMatchObject({ code: 'config-invalid' })
    expect((error as Error).message).toMatch(
      /BACKUP_BUCKET, CLOUDFLARE_R2_ACCOUNT_ID or CLOUDFLARE_ACCOUNT_ID, R2_SECRET_ACCESS_KEY, BACKUP_BUCKET_NAME, DATA$/,
    )
    expect(bench.world.calls).toEqual([])
  })

  test('a missing one of the sandboxes is a mistake of the operator, not a fault that may pass', async () => {
    const env: { readonly SANDBOX?: SandboxNamespace } = {}
    const source = { namespace: env.SANDBOX as SandboxNamespace }
    const bench = new Bench({}, { driver: createSdkDriver({ source }) })
    const error = await bench.open().catch((each: unknown) => each)
    expect(error).toMatchObject({ code: 'config-invalid', transient: false })
    expect((error as Error).message).toContain('source.namespace')
  })

  test('simulated buckets need no keys', async () => {
    const bench = new Bench(config, { bindings: { BACKUP_BUCKET: {}, DATA: {} } })
    expect((await bench.open()).receipt.outcome).toBe('created')
  })
})

test('options of the provider are checked by name', async () => {
  expect(() => new Bench({}, { maxWholeReadBytes: 0 })).toThrow(/maxWholeReadBytes/)
  expect(() => new Bench({}, { maxGlobalConcurrentOpens: 0 })).toThrow(/concurrent/)
  expect(await codeOf(new Bench({}, { maxGlobalConcurrentOpens: 1 }).open())).toBe('no error')
})

test.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, '5', {}])(
  'a number of the provider cannot be %s',
  (value) => {
    for (const name of numbers) {
      expect(() => new Bench({}, { [name]: value })).toThrow(new RegExp(name))
    }
  },
)

test('a time is no longer than a timer can be set for', () => {
  for (const name of ['defaultTimeoutMs', 'callTimeoutMs'] as const) {
    expect(() => new Bench({}, { [name]: 2 ** 31 })).toThrow(new RegExp(name))
    expect(() => new Bench({}, { [name]: 2 ** 31 - 1 })).not.toThrow()
  }
})

const SECRET = 'sk-planted'

test.each([
  { env: { TOKEN: `${SECRET}\0` } },
  { env: { TOKEN: SECRET }, autoRestore: true },
  { mounts: [{ bucket: 'B', path: '/a', endpoint: `https://key:${SECRET}@host` }] },
  { mounts: [{ bucket: 'B', path: '/a', endpoint: `https://host/?signature=${SECRET}` }] },
  { token: SECRET },
])('what is refused is not repeated, nor by a cause: %#', (config) => {
  const error = errorOf(config)
  expect(inspect(error, { depth: 10, showHidden: true })).not.toContain(SECRET)
  expect(JSON.stringify(error)).not.toContain(SECRET)
})

test('a mount keeps all that it is given', () => {
  const mount = {
    bucket: 'FILES',
    path: '/data',
    prefix: '/team',
    readOnly: true,
    shareAcrossSessions: true,
    endpoint: 'https://store.example',
  }
  expect(parse({ mounts: [mount] })).toMatchObject({ mounts: [mount] })
  expect(parse({ mounts: [{ bucket: 'FILES', path: '/data' }] })).toMatchObject({
    mounts: [{ bucket: 'FILES', path: '/data' }],
  })
  expect(problemOf({ mounts: [{ ...mount, readOnly: 'yes' }] })).toContain('readOnly')
})
