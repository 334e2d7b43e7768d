import { describe, expect, it } from 'vitest'
import { FaultSet } from '../../src/faults/fault-set.ts'

const everybody = () => new FaultSet(() => true)

describe('a fault that happens later than what it meets begins', () => {
  it('counts when it happens, not when the operation begins', async () => {
    const faults = everybody()
    const fault = faults.inject({ kind: 'lost-reply', times: 1 })
    const armed = faults.arm('lost-reply', 'one')
    let happened = false
    void fault.happened.then(() => (happened = true))
    await Promise.resolve()
    expect({ happened, hits: fault.hits }).toEqual({ happened: false, hits: 0 })
    expect(armed?.strike()).toBe(true)
    await fault.happened
    expect(fault.hits).toBe(1)
  })

  it('spares what begins when its times have run out, and what ends after that', () => {
    const faults = everybody()
    const fault = faults.inject({ kind: 'lost-reply', times: 1 })
    const [first, second] = [faults.arm('lost-reply', 'one'), faults.arm('lost-reply', 'two')]
    expect([second?.strike(), first?.strike()]).toEqual([true, false])
    expect(faults.arm('lost-reply', 'one')).toBeUndefined()
    expect(fault.hits).toBe(1)
  })

  it('spares what began before it, and what it was removed for', () => {
    const faults = everybody()
    expect(faults.arm('exits', 'one')).toBeUndefined()
    const fault = faults.inject({ kind: 'exits', afterMs: 1, exitCode: 3 })
    const armed = faults.arm('exits', 'one')
    fault.remove()
    expect(armed?.strike()).toBe(false)
    expect(fault.hits).toBe(0)
  })
})
