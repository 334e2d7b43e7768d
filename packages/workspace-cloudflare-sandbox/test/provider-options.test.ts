// The numbers of a provider, and the bindings that its declarations need.
import type { CloudflareSandboxConfigInput } from '@helix-agents/workspace-cloudflare-sandbox'
import { describe, expect, test } from 'vitest'
import { parseSandboxConfig } from '../src/config.ts'
import { assertBindings, readSettings } from '../src/provider-options.ts'
import { SandboxWorld } from './double/memory-world.ts'
import { kind } from './double/open-on-double.ts'

const driver = new SandboxWorld().createDriver
const MEBIBYTE = 1_048_576
const endpoint = 'https://s3.example'

/** What is missing in a Worker; empty when nothing is. */
function missing(
  config: Partial<CloudflareSandboxConfigInput>,
  bindings: Readonly<Record<string, unknown>> | undefined,
  localBuckets?: boolean,
): string {
  const given = {
    ...(bindings && { bindings }),
    ...(localBuckets !== undefined && { localBuckets }),
  }
  try {
    assertBindings(parseSandboxConfig({ kind, ...config }), { driver, ...given })
    return ''
  } catch (error) {
    return (error as Error).message.replace('cloudflare-sandbox: missing in the Worker: ', '')
  }
}

describe('the options of a provider', () => {
  test('have their defaults', () => {
    expect(readSettings({ driver })).toStrictEqual({
      defaultTimeoutMs: 120_000,
      callTimeoutMs: 120_000,
      maxOutputBytes: MEBIBYTE,
      maxWholeReadBytes: 32 * MEBIBYTE,
      maxSearchedFiles: 200_000,
      maxRestoreBytes: 4096 * MEBIBYTE,
      maxRestoreMembers: 500_000,
    })
  })

  test('are what is given, each for itself', () => {
    const given = {
      defaultTimeoutMs: 1,
      callTimeoutMs: 2 ** 31 - 1,
      maxOutputBytes: 3,
      maxWholeReadBytes: Number.MAX_SAFE_INTEGER,
      maxSearchedFiles: 5,
      maxRestoreBytes: 6,
      maxRestoreMembers: 2 ** 31,
    }
    expect(readSettings({ driver, ...given })).toStrictEqual(given)
  })

  test.each([
    [{ callTimeoutMs: 2 ** 31 }, 'callTimeoutMs: has to be a whole number from 1 to 2147483647'],
    [{ maxOutputBytes: 0 }, 'maxOutputBytes: has to be a whole number from 1 to 9007199254740991'],
  ])('are refused by name: %j', (given, problem) => {
    expect(() => readSettings({ driver, ...given })).toThrow(
      expect.objectContaining({
        code: 'config-invalid',
        message: `cloudflare-sandbox: ${problem}`,
        hint: 'An operator must set up the Worker.',
      }),
    )
  })

  const backup = { backupR2Binding: 'BACKUP_BUCKET' } as const
  const keys = {
    BACKUP_BUCKET: {},
    R2_ACCESS_KEY_ID: 'a',
    R2_SECRET_ACCESS_KEY: 'b',
    BACKUP_BUCKET_NAME: 'c',
  }
  const account = 'CLOUDFLARE_R2_ACCOUNT_ID or CLOUDFLARE_ACCOUNT_ID'
  const all = `BACKUP_BUCKET, ${account}, R2_ACCESS_KEY_ID, R2_SECRET_ACCESS_KEY, BACKUP_BUCKET_NAME`

  test('are not checked without the bindings of the Worker', () => {
    expect(missing(backup, undefined)).toBe('')
  })

  test.each([
    [{}, undefined, all],
    [{}, false, all],
    [{}, true, 'BACKUP_BUCKET'],
    [keys, false, account],
    [{ ...keys, CLOUDFLARE_R2_ACCOUNT_ID: 'x' }, false, ''],
    [{ ...keys, CLOUDFLARE_ACCOUNT_ID: 'x' }, false, ''],
    [{ BACKUP_BUCKET: {} }, true, ''],
  ])('with backups need of %j (simulated: %s) also: %s', (bindings, localBuckets, expected) => {
    expect(missing(backup, bindings, localBuckets)).toBe(expected)
  })

  test('with mounts need their bindings, and none for a service', () => {
    const mounts = [
      { bucket: 'ONE', path: '/a' },
      { bucket: 'TWO', path: '/b' },
      { bucket: 'three', path: '/c', endpoint },
    ]
    expect(missing({ mounts }, {})).toBe('ONE, TWO')
    expect(missing({ mounts }, { TWO: {} })).toBe('ONE')
    expect(missing({ mounts }, { ONE: {}, TWO: {} })).toBe('')
  })
})
