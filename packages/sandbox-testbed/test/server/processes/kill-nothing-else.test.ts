import { afterEach, expect, test, vi } from 'vitest'
import { killGroup, killOne } from '../../../src/server/child-groups.ts'
import { endTree } from '../../../src/server/processes/process-tree.ts'

afterEach(() => void vi.restoreAllMocks())

test.each([0, 1, -1, Number.NaN, 1.5])('an id that is no child, %s, kills nothing', (pid) => {
  // Never the real one: a mistake here would end every process of the user.
  const kill = vi.spyOn(process, 'kill').mockReturnValue(true)
  expect([killGroup(pid), killOne(pid)]).toEqual([false, false])
  endTree(pid)
  expect(kill).not.toHaveBeenCalled()
})
