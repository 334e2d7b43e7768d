import { describe, expect, it, vi } from 'vitest'
import { createTimeSlice } from '../../src/time/slice.ts'

describe('createTimeSlice', () => {
  it('is due when its budget is used up, and new after a pause', async () => {
    const now = vi.spyOn(performance, 'now').mockReturnValue(0)
    const slice = createTimeSlice(8)
    now.mockReturnValue(7.9)
    expect(slice.due).toBe(false)
    now.mockReturnValue(8)
    expect(slice.due).toBe(true)
    await slice.pause()
    expect(slice.due).toBe(false)
  })

  it('counts checks where the clock stands still', () => {
    vi.spyOn(performance, 'now').mockReturnValue(5)
    const slice = createTimeSlice(8)
    const checks = Array.from({ length: 2000 }, () => slice.due)
    expect(checks.indexOf(true)).toBe(1023)
  })

  it('lets other work run', async () => {
    const order: string[] = []
    const slice = createTimeSlice()
    setTimeout(() => order.push('timer'), 0)
    const start = Date.now()
    while (order.length === 0 && Date.now() - start < 5000) await slice.pause()
    expect(order).toEqual(['timer'])
  })

  it('falls back to a timer without setImmediate', async () => {
    vi.stubGlobal('setImmediate', undefined)
    await expect(createTimeSlice().pause()).resolves.toBeUndefined()
    vi.unstubAllGlobals()
  })
})
