import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { stepAlert } from '../../src/alerts/step-alert.ts'

const times = { forMs: 100, clearForMs: 50, escalateAfterMs: 1000 }
const bad = { isBad: true, isGood: false, isSevere: false }
const between = { isBad: false, isGood: false, isSevere: false }
const good = { isBad: false, isGood: true, isSevere: false }

describe('hysteresis', () => {
  test('begins when it lasts, ends when it is over for a while, and tells each once', () => {
    const steps = [
      [bad, 0, undefined],
      [bad, 99, undefined],
      [good, 99, undefined],
      [bad, 100, undefined],
      [bad, 200, 'firing'],
      [bad, 300, undefined],
      [good, 310, undefined],
      [between, 340, undefined],
      [good, 350, undefined],
      [good, 400, 'resolved'],
      [good, 500, undefined],
    ] as const
    let state: Parameters<typeof stepAlert>[0] = { isFiring: false }
    for (const [measure, now, expected] of steps) {
      const step = stepAlert(state, measure, times, now)
      expect([now, step.notify]).toEqual([now, expected])
      state = step.state
    }
  })

  test('a value that swings around the limit tells nothing more', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(bad, between), { minLength: 5 }), (measures) => {
        let state: Parameters<typeof stepAlert>[0] = { isFiring: true, since: 0 }
        const told = measures.map((measure, n) => {
          const step = stepAlert(state, measure, times, n * 1000)
          state = step.state
          return step.notify
        })
        expect(told.filter((what) => what !== undefined)).toEqual([])
      }),
    )
  })

  test('is passed on once when it is severe and lasts', () => {
    const severe = { ...bad, isSevere: true }
    const first = stepAlert({ isFiring: true, since: 0 }, severe, times, 1000)
    expect(first.notify).toBe('escalate')
    expect(stepAlert(first.state, severe, times, 2000).notify).toBeUndefined()
  })
})
