// Which stored ref a session may open, and which it may free.
import { describe, expect, test } from 'vitest'
import {
  assertClaim,
  assertReleasable,
  type Claimant,
  readRef,
  type SandboxRef,
  toRef,
} from '../src/ref.ts'

const backup = { id: 'b', directory: '/workspace', expiresAtMs: 1, local: false }
const snapshot = { takenAtMs: 1, backup }
const FORK = `hx-${'a2'.repeat(16)}-branch-00112233aabbccdd`
const own: SandboxRef = {
  line: '0.12',
  sandbox: 'hx-own',
  owner: 'me',
  isShared: false,
  lifetime: 'l',
  epoch: 'e',
  seenMs: 1,
  snapshot: null,
}
const shared: SandboxRef = { ...own, sandbox: 'team', owner: null, isShared: true }
const newFork: SandboxRef = { ...own, sandbox: FORK, owner: null, epoch: null, snapshot }
const me: Claimant = { owner: 'me', sandbox: 'hx-own', isShared: false }
const team: Claimant = { owner: 'me', sandbox: 'team', isShared: true }

const notShared = 'the stored ref is of a sandbox that the workspace does not share'
const another = 'the stored ref names another sandbox'
const ofAnother = 'the stored ref is of another session'

function problemOf(check: () => void): unknown {
  try {
    check()
    return 'none'
  } catch (error) {
    const { code, message } = error as { readonly code?: string; readonly message: string }
    return code === 'ref-invalid' ? message : error
  }
}

describe('a session opens', () => {
  test.each<[string, SandboxRef, Claimant]>([
    ['its own sandbox', own, me],
    ['its own fork', { ...own, sandbox: FORK }, me],
    ['a fork that was not used', newFork, me],
    ['one that it shares', shared, team],
  ])('%s', (_what, payload, claimant) => {
    expect(problemOf(() => assertClaim(payload, claimant))).toBe('none')
  })

  test.each<[string, SandboxRef, Claimant, string]>([
    ['a shared one, without sharing', { ...shared, sandbox: 'hx-own' }, me, notShared],
    ['another shared one', { ...shared, sandbox: 'others' }, team, notShared],
    ['a shared one with an owner', { ...shared, owner: 'me' }, team, notShared],
    ['a shared one that was never made', { ...shared, epoch: null, snapshot }, team, notShared],
    ['its own name for that of another', { ...own, sandbox: 'hx-other' }, me, another],
    ['one of another session', { ...own, owner: 'other' }, me, ofAnother],
    ['a fork of another session', { ...own, sandbox: FORK, owner: 'other' }, me, ofAnother],
    ['a fork that was used, without an owner', { ...newFork, epoch: 'e' }, me, ofAnother],
    ['a fork of nothing', { ...newFork, snapshot: null }, me, ofAnother],
    ['one of nobody', { ...own, owner: null, epoch: null, snapshot }, me, ofAnother],
    ['one that was never made', { ...own, epoch: null }, me, ofAnother],
  ])('not %s', (_what, payload, claimant, problem) => {
    expect(problemOf(() => assertClaim(payload, claimant))).toBe(problem)
  })
})

describe('a session frees', () => {
  test.each<[string, SandboxRef]>([
    ['its own sandbox', own],
    ['one that was never made', { ...own, epoch: null }],
    ['its own fork', { ...own, sandbox: FORK }],
    ['a fork that was not used', newFork],
  ])('%s', (_what, payload) => {
    expect(problemOf(() => assertReleasable(payload, me))).toBe('none')
  })

  test.each<[string, SandboxRef, string]>([
    ['one of another name', { ...own, sandbox: 'hx-other' }, another],
    ['one of another session', { ...own, owner: 'other' }, ofAnother],
    ['a used fork of another session', { ...own, sandbox: FORK, owner: 'other' }, ofAnother],
    ['a shared one', { ...shared, sandbox: 'hx-own' }, ofAnother],
  ])('not %s', (_what, payload, problem) => {
    expect(problemOf(() => assertReleasable(payload, me))).toBe(problem)
  })
})

describe('the bounds of a ref', () => {
  const LAST_MS = 8_640_000_000_000_000
  const whole = {
    ...own,
    sandbox: 'a'.repeat(63),
    owner: 'a2'.repeat(16),
    lifetime: '0f'.repeat(16),
    snapshot,
  }
  const ofBackup = (changes: object) => ({
    snapshot: { ...snapshot, backup: { ...backup, ...changes } },
  })

  function read(changes: object): unknown {
    const { ref, ...outer } = toRef(whole, { fs: true })
    return readRef({ ...outer, ref: { ...(ref as object), ...changes } })
  }

  test('a ref names its provider, its version and what it can', () => {
    expect(toRef(own, { fs: true })).toStrictEqual({
      providerId: 'cloudflare-sandbox',
      schemaVersion: 1,
      capabilities: { fs: true },
      ref: own,
    })
  })

  test.each<[string, object]>([
    ['all', {}],
    ['both lines', { line: '1.0' }],
    ['times', { seenMs: 0, ...ofBackup({ expiresAtMs: LAST_MS }) }],
    ['the last time', { seenMs: LAST_MS, snapshot: { takenAtMs: LAST_MS, backup } }],
    ['fences', { epoch: 'e' }],
    ['long fences', { epoch: 'e'.repeat(256) }],
    ['the root', ofBackup({ directory: '/' })],
    ['a long directory', ofBackup({ directory: `/${'d'.repeat(4095)}` })],
    ['a backup that was measured', ofBackup({ totalBytes: 0, members: 0 })],
    ['a long name of a backup', ofBackup({ id: 'i'.repeat(128) })],
  ])('%s', (_, changes) => {
    expect(read(changes)).toEqual({ ...whole, ...changes })
  })

  test.each<[string, object]>([
    ['a time before all', { seenMs: -1 }],
    ['a time that no date can be', { seenMs: LAST_MS + 1 }],
    ['half a millisecond', { seenMs: 0.5 }],
    ['such a time of a snapshot', { snapshot: { takenAtMs: LAST_MS + 1, backup } }],
    ['such an end of a backup', ofBackup({ expiresAtMs: LAST_MS + 1 })],
    ['an empty fence', { epoch: '' }],
    ['a fence that is too long', { epoch: 'e'.repeat(257) }],
    ['no directory', ofBackup({ directory: '' })],
    ['a relative one', ofBackup({ directory: 'workspace' })],
    ['one that is too long', ofBackup({ directory: `/${'d'.repeat(4096)}` })],
    ['less than nothing', ofBackup({ totalBytes: -1 })],
    ['half a member', ofBackup({ members: 0.5 })],
    ['less than no member', ofBackup({ members: -1 })],
    ['a text for a truth', ofBackup({ local: 'yes' })],
    ['a lifetime of no form', { lifetime: '0f'.repeat(15) }],
    ['an owner of no form', { owner: 'A2'.repeat(16) }],
    ['more', { later: 1 }],
    ['more of a backup', ofBackup({ later: 1 })],
  ])('not %s', (_, changes) => {
    expect(() => read(changes)).toThrow(expect.objectContaining({ code: 'ref-invalid' }))
  })
})
