import { afterEach, expect, test, vi } from 'vitest'
import { killGroup } from './process-group.ts'

afterEach(() => void vi.restoreAllMocks())

test.each([0, 1, -1, -5, Number.NaN, 2.5, undefined as never, '7' as never])(
  'no group is killed for the id %s: to the system it means others',
  (pid) => {
    // Never the real one: a mistake here would end every process of the user.
    const kill = vi.spyOn(process, 'kill').mockReturnValue(true)
    expect(() => killGroup(pid)).toThrow(RangeError)
    expect(kill).not.toHaveBeenCalled()
  },
)
