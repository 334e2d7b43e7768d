// Refs of snapshots, and who may restore them.
import { describe, expect, it } from 'vitest'
import {
  assertLasts,
  assertTakenBy,
  parseSnapshot,
  toSnapshotRef,
} from '../../../src/modules/snapshot/cloudflare-sandbox-snapshotter.ts'

const session = 'a2'.repeat(16)
const backup = { id: 'b1', directory: '/workspace', expiresAtMs: 5000, local: false }
const snapshot = { takenAtMs: 1000, backup }
const ref = toSnapshotRef(session, snapshot)

describe('a ref of a snapshot', () => {
  it('is read as it was made', () => {
    expect(ref).toEqual({
      providerId: 'cloudflare-sandbox',
      ref: { schemaVersion: 1, session, snapshot },
    })
    expect(parseSnapshot(ref)).toEqual(ref.ref)
  })
  it.each([
    [{ providerId: 'other' }, {}],
    [{}, { schemaVersion: 2 }],
    [{}, { session: session.slice(1) }],
    [{}, { session: `${session}a` }],
    [{}, { session: session.toUpperCase() }],
    [{}, { snapshot: { ...snapshot, takenAtMs: -1 } }],
    [{}, { snapshot: { ...snapshot, backup: { ...backup, id: 'b/1' } } }],
    [{}, { other: 1 }],
  ])('is refused: %j %j', (outer, inner) => {
    const changed = { ...ref, ...outer, ref: { schemaVersion: 1, session, snapshot, ...inner } }
    const refused = expect.objectContaining({
      code: 'ref-invalid',
      message: 'that is not a snapshot of this kind of workspace',
      hint: 'Give the ref as the snapshot tool returned it, whole and unchanged.',
    })
    expect(() => parseSnapshot(changed)).toThrow(refused)
  })
  it('that is refused says to an operator what is wrong with it', () => {
    const damaged = { ...ref, ref: {} }
    const issues = expect.arrayContaining([expect.objectContaining({ path: ['session'] })])
    const cause = expect.objectContaining({ issues })
    expect(() => parseSnapshot(damaged)).toThrow(expect.objectContaining({ cause }))
  })
})

it('a snapshot is of the session that took it, by its ref and by the bucket', () => {
  const other = 'b2'.repeat(16)
  assertTakenBy(session, { session, name: session })
  assertTakenBy(session, { session, name: undefined })
  for (const taken of [
    { session: other, name: session },
    { session, name: other },
    { session: other, name: undefined },
  ]) {
    expect(() => assertTakenBy(session, taken)).toThrow(
      expect.objectContaining({
        code: 'cross-session',
        message: 'the snapshot was taken by another session',
        hint: 'Restore a snapshot that this session took.',
      }),
    )
  }
})

it('a snapshot lasts until it expires', () => {
  assertLasts(snapshot, { now: () => 4999 })
  expect(() => assertLasts(snapshot, { now: () => 5000 })).toThrow(
    expect.objectContaining({
      code: 'provider-failed',
      message: 'the snapshot has expired',
      hint: 'Take a new snapshot.',
    }),
  )
})
