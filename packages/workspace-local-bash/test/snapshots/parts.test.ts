import { closeSync, ftruncateSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { isSame, isSettled } from '../../src/snapshots/change-times.ts'
import { toInnerTarget } from '../../src/snapshots/link-target.ts'
import { SnapshotLosses } from '../../src/snapshots/snapshot-losses.ts'
import { parseSnapshotRef, toSnapshotRef } from '../../src/snapshots/snapshot-ref.ts'
import { writeBytes } from '../../src/snapshots/write-bytes.ts'
import { useDirectory } from './store/store-fixture.ts'

const directory = useDirectory()

describe('times of changes', () => {
  it.each([
    [5001, 5026, true],
    [5001, 5025, false],
    [5001, 4000, false],
    [5000, 7025, true],
    [5000, 7024, false],
  ])('one at %d is over at %d: %s', (ctimeMs, nowMs, expected) => {
    expect(isSettled(ctimeMs, nowMs)).toBe(expected)
  })
  it('tell states apart, by every field', () => {
    const state = { dev: 1, ino: 2, size: 3, mtimeMs: 4, ctimeMs: 5 }
    expect(isSame(state, { ...state })).toBe(true)
    for (const field of ['dev', 'ino', 'size', 'mtimeMs', 'ctimeMs'] as const) {
      expect([field, isSame(state, { ...state, [field]: 9 })]).toEqual([field, false])
    }
  })
})

describe('the target of a link', () => {
  const roots = ['/workspace', '/tmp/ws/root']
  it.each([
    ['/a', 'b', 'b'],
    ['/a', './b//c/.', 'b/c'],
    ['/a', '.', '.'],
    ['/a', '', '.'],
    ['/d/a', '..', '..'],
    ['/d/a', '../b', '../b'],
    ['/d/e/a', '../../b', '../../b'],
    ['/a', '/workspace', '.'],
    ['/a', '/workspace/', '.'],
    ['/a', '/workspace/b', 'b'],
    ['/d/a', '/workspace/b', '../b'],
    ['/d/a', '/workspace', '..'],
    ['/d/a', '/workspace/d', '.'],
    ['/d/a', '/tmp/ws/root//d/./b', 'b'],
  ])('of %s to %s is held as %s', (path, target, expected) => {
    expect(toInnerTarget(path, target, roots)).toBe(expected)
  })
  it.each([
    ['/a', '..'],
    ['/a', '../b'],
    ['/d/a', '../../b'],
    ['/d/a', 'b/../c'],
    ['/d/e/a', '../b/../../c'],
    ['/a', '/'],
    ['/a', '/etc'],
    ['/a', '/workspaces/b'],
    ['/a', '/workspace/../etc'],
    ['/a', '/workspace/b/../c'],
  ])('of %s to %s is not held', (path, target) => {
    expect(toInnerTarget(path, target, roots)).toBeUndefined()
  })
})

describe('what a snapshot does not hold', () => {
  it('is nothing', () => {
    expect([new SnapshotLosses().sentence, new SnapshotLosses().list]).toEqual([undefined, []])
  })
  it('is counted, and the first five of a kind are named', () => {
    const losses = new SnapshotLosses()
    for (let n = 1; n <= 5; n += 1) losses.add(`/${n}`, 'link')
    const five = '"/1", "/2", "/3", "/4", "/5"'
    const start = 'The snapshot does not hold as they were: '
    expect(losses.sentence).toBe(`${start}link ${five} (5).`)
    losses.add('/6', 'link')
    losses.add(`/"${'x'.repeat(200)}`, 'path')
    const long = JSON.stringify(`/"${'x'.repeat(98)}`)
    expect(losses.sentence).toBe(`${start}link ${five} and others (6); path ${long} (1).`)
    expect(losses.list).toEqual([
      { kind: 'link', count: 6, paths: ['/1', '/2', '/3', '/4', '/5'] },
      { kind: 'path', count: 1, paths: [`/"${'x'.repeat(200)}`] },
    ])
  })
  it('is said in 1,000 characters at most', () => {
    const losses = new SnapshotLosses()
    for (const kind of ['link', 'path', 'unreadable'] as const) {
      for (let n = 0; n < 6; n += 1) losses.add(`/${'x'.repeat(200)}`, kind)
    }
    expect(losses.sentence).toHaveLength(1000)
  })
})

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

describe('bytes that are written', () => {
  it.each([0, 5, 64 * 1024, 64 * 1024 + 1])('%d of them, in their place', async (length) => {
    const path = join(directory(), 'f')
    const fd = openSync(path, 'w+')
    ftruncateSync(fd, 3)
    const bytes = new Uint8Array(length).map((_, index) => index % 251)
    const written = writeBytes(fd, bytes, 3)
    expect(written === undefined).toBe(length <= 64 * 1024)
    await written
    closeSync(fd)
    const found = readFileSync(path)
    expect(found.subarray(0, 3).equals(Buffer.alloc(3))).toBe(true)
    expect(found.subarray(3).equals(Buffer.from(bytes))).toBe(true)
  })
})
