// Which stored ref a session may open, and which it may free.
import { describe, expect, test } from 'vitest'
import { assertClaim, assertReleasable, type Claimant, type SandboxRef } from '../src/ref.ts'

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
