// Every ref that a release has ever written must be read. Add, never change.
import type { WorkspaceRef } from '@helix-agents/core/provider'
import { describe, expect, test } from 'vitest'
import { hashParts } from '../src/sandbox-id.ts'
import { Bench, codeOf, session } from './double/open-on-double.ts'

const owner = await hashParts('owner', session.sessionId, 'box')
const sandbox = `hx-${await hashParts('sandbox', session.sessionId, 'box')}`
const providerId = 'cloudflare-sandbox'
const capabilities = { fs: true, shell: true, code: true }
const lifetime = '00112233445566778899aabbccddeeff'
const epoch = '6f1c1f0e-0f0e-4d6c-9d36-0c4f4b6f6a51'
const backup = {
  id: 'b3c7f2de-53c5-4c43-9d55-1c2f65e1a111',
  directory: '/workspace',
  expiresAtMs: 1_900_000_000_000,
  local: false,
}
const snapshot = { takenAtMs: 1_790_000_000_000, backup }
const payload = {
  line: '0.12',
  sandbox,
  owner,
  isShared: false,
  lifetime,
  epoch,
  seenMs: 1_790_000_000_000,
  snapshot: null,
}

const corpus: readonly (readonly [name: string, payload: object])[] = [
  ['of a session', payload],
  ['with a last snapshot', { ...payload, snapshot }],
  [
    'with a measured snapshot',
    { ...payload, snapshot: { ...snapshot, backup: { ...backup, totalBytes: 9, members: 2 } } },
  ],
  ['of a fork in use', { ...payload, sandbox: `${sandbox}-restored-00112233aabbccdd`, snapshot }],
]

const shared = { ...payload, owner: null, isShared: true, sandbox: 'team-box' }
const fork = {
  ...payload,
  owner: null,
  epoch: null,
  sandbox: `${sandbox}-branch-00112233aabbccdd`,
  snapshot,
}

async function resolve(bench: Bench, data: unknown, schemaVersion = 1): Promise<string> {
  const stored = data as { sandbox?: string; epoch?: string | null }
  if (typeof stored?.sandbox === 'string' && typeof stored.epoch === 'string') {
    const container = await bench.world.start(stored.sandbox)
    container.epoch = stored.epoch
  }
  const ref: WorkspaceRef = { providerId, schemaVersion, capabilities, ref: data }
  return (await bench.resolve(ref)).receipt.outcome
}

test.each(corpus)('the ref %s is read', async (_, data) => {
  expect(await resolve(new Bench(), data)).toBe('reattached')
})

test('the ref of a shared sandbox is read', async () => {
  const bench = new Bench({ id: 'team-box', shareAcrossSessions: true })
  expect(await resolve(bench, shared)).toBe('reattached')
})

test('the ref of a fork that is not made yet is read', async () => {
  const bench = new Bench({ backupR2Binding: 'BACKUP_BUCKET' })
  bench.world.backups.set(backup.id, new Map())
  expect(await resolve(bench, fork)).toBe('restored')
})

test.each([0, 1, 2])('version %i is read', async (schemaVersion) => {
  expect(await resolve(new Bench(), payload, schemaVersion)).toBe('reattached')
})

test.each([3, 99])('version %i is refused', async (schemaVersion) => {
  expect(await codeOf(resolve(new Bench(), payload, schemaVersion))).toBe('ref-version')
})

test('of the next version what is known is read', async () => {
  expect(await resolve(new Bench(), { ...payload, added: { later: 1 } }, 2)).toBe('reattached')
})

describe('refused', () => {
  test.each([
    ['an unknown line', { ...payload, line: '2.0' }],
    ['an uppercase id', { ...payload, sandbox: sandbox.toUpperCase() }],
    ['no owner for a sandbox in use', { ...payload, owner: null }],
    ['another owner', { ...payload, owner: owner.split('').toReversed().join('') }],
    ['a fork of somebody', { ...fork, owner }],
    ['the sandbox of another session', { ...payload, sandbox: `hx-${'a'.repeat(32)}` }],
    ['a sandbox that sessions share', { ...payload, sandbox: 'team-box' }],
    ['a fork into a sandbox in use', { ...fork, sandbox }],
    ['a fork into a shared sandbox', { ...fork, sandbox: 'team-box' }],
    ['a fork of nothing', { ...fork, snapshot: null }],
    ['a number as text', { ...payload, seenMs: '1790000000000' }],
    ['a time that is none', { ...payload, seenMs: -1 }],
    ['a truth as text', { ...payload, isShared: 'false' }],
    ['a list', [payload]],
    ['text', JSON.stringify(payload)],
    ['a key of the prototype', JSON.parse('{"__proto__":{"sandbox":"x"},"constructor":1}')],
    [
      'a key of the prototype beside',
      JSON.parse(`{"__proto__":{},${JSON.stringify(payload).slice(1)}`),
    ],
    ['an id with a line break', { ...payload, sandbox: `${sandbox}\n` }],
    ['a long epoch', { ...payload, epoch: 'e'.repeat(257) }],
    ['a shared one where nothing is shared', shared],
    ['a path as an epoch of nothing', { ...payload, epoch: '' }],
    [
      'a relative snapshot',
      { ...payload, snapshot: { ...snapshot, backup: { ...backup, directory: 'x' } } },
    ],
    [
      'an odd backup id',
      { ...payload, snapshot: { ...snapshot, backup: { ...backup, id: '../x' } } },
    ],
    ['a field too many', { ...payload, key: 'other' }],
    ['nothing', {}],
    ['null', null],
  ])('%s', async (_, data) => {
    expect(await codeOf(resolve(new Bench(), data))).toBe('ref-invalid')
  })
})

test('a ref of another provider is refused', async () => {
  const ref = { providerId: 'local-bash', schemaVersion: 1, capabilities, ref: payload }
  expect(await codeOf(new Bench().resolve(ref))).toBe('ref-invalid')
})

test('a ref of the other line finds its container out of reach', async () => {
  expect(await codeOf(resolve(new Bench(), { ...payload, line: '1.0' }))).toBe('lost')
})
