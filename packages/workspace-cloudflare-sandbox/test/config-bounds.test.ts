// What a declaration may hold, up to its bounds.
import { describe, expect, test } from 'vitest'
import { DEFAULT_CONFIG, isRootMounted, parseSandboxConfig } from '../src/config.ts'
import { kind } from './double/open-on-double.ts'

function errorOf(config: unknown): Error | undefined {
  try {
    parseSandboxConfig(config)
    return undefined
  } catch (error) {
    return error as Error
  }
}

/** What is wrong with a declaration; empty when nothing is. */
const problemsOf = (config: unknown): string => errorOf(config)?.message ?? ''
const problemOf = (config: object): string => problemsOf({ kind, ...config })

const mount = (more: object = {}): object => ({
  mounts: [{ bucket: 'B', path: '/a', ...more }],
})
const shared = (id: string): object => ({ id, shareAcrossSessions: true })
const backups = { backupR2Binding: 'BACKUP_BUCKET' }
const endpoint = 'https://s3.example'

test('the defaults are those of an empty declaration', () => {
  expect(DEFAULT_CONFIG).toEqual(parseSandboxConfig({ kind }))
})

describe('accepted', () => {
  test.each<[string, object]>([
    ['a bucket of one character', mount({ bucket: 'b' })],
    ['a bucket of 128', mount({ bucket: 'b'.repeat(128) })],
    [
      'sixteen mounts',
      { mounts: Array.from({ length: 16 }, (_, n) => ({ bucket: `B${n}`, path: `/b${n}` })) },
    ],
    ['names with dots', mount({ path: '/a.b/..c/d..' })],
    ['an address over http', mount({ endpoint: 'http://s3.example:9000/store' })],
    [
      'a bucket of a service and a binding of its name',
      {
        mounts: [
          { bucket: 'B', path: '/a' },
          { bucket: 'B', path: '/b', endpoint },
        ],
      },
    ],
    [
      'the same the other way round',
      {
        mounts: [
          { bucket: 'B', path: '/b', endpoint },
          { bucket: 'B', path: '/a' },
        ],
      },
    ],
    [
      'a bucket of a service twice',
      {
        mounts: [
          { bucket: 'B', path: '/a', endpoint },
          { bucket: 'B', path: '/b', endpoint },
        ],
      },
    ],
    ['a mount on the root without backups', mount({ path: '/workspace' })],
    ['backups beside a mount below the root', { ...backups, ...mount({ path: '/workspace/a' }) }],
    ['backups of a shared sandbox', { ...backups, ...shared('a') }],
    ['a sandbox that comes back', { ...backups, autoRestore: true }],
    ['an id alone', { id: 'a' }],
    ['what says that nothing is shared', { shareAcrossSessions: false }],
    ['61 seconds', { backupTtlSeconds: 61 }],
    ['ten years', { backupTtlSeconds: 315_360_000 }],
    ['seconds', { sleepAfter: 1 }],
    ['seconds with a unit', { sleepAfter: '007s' }],
    ['minutes', { sleepAfter: '1234567m' }],
    ['hours', { sleepAfter: '1h' }],
    ['rpc', { transport: 'rpc' }],
    ['http', { transport: 'http' }],
    ['websocket', { transport: 'websocket' }],
    ['variables', { env: { _a1: '', A: ' ' } }],
  ])('%s', (_, config) => {
    expect(problemOf(config)).toBe('')
    expect(parseSandboxConfig({ kind, ...config })).toMatchObject(config)
  })
})

describe('refused', () => {
  test.each(['www', 'api', 'admin', 'root', 'system', 'cloudflare', 'workers'])(
    'the id %s',
    (id) => {
      expect(problemOf(shared(id))).toBe('cloudflare-sandbox: id: is reserved by the platform')
    },
  )

  test.each<[string, object, string]>([
    ['an id of ours', shared('hx-a'), 'id: must not start with hx-'],
    [
      'an id of no form',
      shared('A'),
      'id: has 1 to 63 lowercase letters, digits and inner hyphens',
    ],
    ['a name that is none', { env: { '1': '' } }, 'env.1: Invalid key'],
    ['a long bucket', mount({ bucket: 'b'.repeat(129) }), 'mounts.0.bucket: '],
    ['a path with spaces', mount({ path: '/a b' }), 'mounts.0.path: is not a plain absolute path'],
    [
      'a path that ends open',
      mount({ path: '/a/' }),
      'mounts.0.path: is not a plain absolute path',
    ],
    ['a path through itself', mount({ path: '/a/.' }), 'mounts.0.path: holds dots'],
    ['a path out', mount({ path: '/../a' }), 'mounts.0.path: holds dots'],
    ['a prefix out', mount({ prefix: '/..' }), 'mounts.0.prefix: holds dots'],
    ['a user', mount({ endpoint: 'https://user@s3.example' }), 'mounts.0.endpoint: holds more'],
    [
      'a password',
      mount({ endpoint: 'https://:word@s3.example' }),
      'mounts.0.endpoint: holds more',
    ],
    ['a query', mount({ endpoint: 'https://s3.example/?a' }), 'mounts.0.endpoint: holds more'],
    ['a fragment', mount({ endpoint: 'https://s3.example/#a' }), 'mounts.0.endpoint: holds more'],
    ['more than ten years', { backupTtlSeconds: 315_360_001 }, 'backupTtlSeconds: '],
    ['half a second', { backupTtlSeconds: 61.5 }, 'backupTtlSeconds: '],
    ['a time without end', { sleepAfter: '12345678s' }, 'sleepAfter: '],
    [
      'another bucket',
      { backupR2Binding: 'B' },
      'backupR2Binding: must be BACKUP_BUCKET: the SDK uses no other',
    ],
    [
      'backups over a mount',
      { ...backups, ...mount({ path: '/workspace' }) },
      'backupR2Binding: a restore would write into the mount at /workspace',
    ],
    [
      'what shares nothing',
      { shareAcrossSessions: true },
      'shareAcrossSessions: needs an id to share',
    ],
    [
      'what cannot come back',
      { autoRestore: true },
      "autoRestore: needs backupR2Binding: 'BACKUP_BUCKET'",
    ],
    [
      'a shared one that comes back',
      { ...backups, ...shared('a'), autoRestore: true },
      'autoRestore: would bring files of one session over those of another',
    ],
    ['another kind', { kind: 'other' }, 'kind: '],
  ])('%s', (_, config, problem) => {
    expect(problemOf(config)).toContain(`cloudflare-sandbox: ${problem}`)
  })

  test('several at once, each by its name', () => {
    const mounts = ['/a', '/a'].map((path) => ({ bucket: 'B', path }))
    expect(problemOf({ autoRestore: true, shareAcrossSessions: true, mounts })).toBe(
      "cloudflare-sandbox: shareAcrossSessions: needs an id to share; autoRestore: needs backupR2Binding: 'BACKUP_BUCKET'; mounts: two are at /a; mounts: B is there twice",
    )
  })

  test.each(['s3.example', 'ftp://s3.example', 'https://'])('an address %s, once', (address) => {
    expect(problemOf(mount({ endpoint: address }))).toBe(
      'cloudflare-sandbox: mounts.0.endpoint: Invalid URL',
    )
  })

  test('what is no declaration at all', () => {
    expect(errorOf(undefined)).toMatchObject({
      code: 'config-invalid',
      cause: { issues: expect.any(Array) as unknown[] },
    })
    expect(problemsOf(undefined)).toMatch(/^cloudflare-sandbox: provider: /)
    expect(problemsOf({ kind, later: 1 })).toMatch(/^cloudflare-sandbox: provider: .*later/)
  })
})

test.each([
  [[], false],
  [['/workspace/a', '/a'], false],
  [['/a', '/workspace'], true],
])('a root is mounted by mounts at %j: %s', (paths, isMounted) => {
  expect(isRootMounted({ mounts: paths.map((path) => ({ bucket: 'B', path })) })).toBe(isMounted)
})
