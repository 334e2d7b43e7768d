import { describe, expect, it } from 'vitest'
import { isSame, isSettled } from '../../src/snapshots/change-times.ts'

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
