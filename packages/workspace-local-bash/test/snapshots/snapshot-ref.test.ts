import { describe, expect, it } from 'vitest'
import { parseSnapshotRef, toSnapshotRef } from '../../src/snapshots/snapshot-ref.ts'

describe('a ref of a snapshot', () => {
  const payload = { line: 'a'.repeat(32), id: 'b'.repeat(32), digest: 'c'.repeat(64) }
  const ref = toSnapshotRef(payload)

  it('is read as it was made', () => {
    expect(ref).toEqual({ providerId: 'local-bash', ref: { schemaVersion: 1, ...payload } })
    expect(parseSnapshotRef(ref)).toEqual({ schemaVersion: 1, ...payload })
    const lost = 'x'.repeat(1000)
    expect(parseSnapshotRef(toSnapshotRef({ ...payload, lost }))).toMatchObject({ lost })
  })
  it.each([
    [{ providerId: 'other' }, {}],
    [{}, { schemaVersion: 2 }],
    [{}, { line: 'a'.repeat(31) }],
    [{}, { id: `${'b'.repeat(32)}\n` }],
    [{}, { id: 'B'.repeat(32) }],
    [{}, { digest: 'c'.repeat(65) }],
    [{}, { lost: 'x'.repeat(1001) }],
    [{}, { other: 1 }],
  ])('is refused: %j %j', (outer, inner) => {
    const changed = { ...ref, ...outer, ref: { schemaVersion: 1, ...payload, ...inner } }
    expect(() => parseSnapshotRef(changed)).toThrow(
      expect.objectContaining({
        code: 'ref-invalid',
        message: 'that is not a snapshot of this kind of workspace',
        hint: 'Give the ref as the snapshot tool returned it, whole and unchanged.',
      }),
    )
  })
})
