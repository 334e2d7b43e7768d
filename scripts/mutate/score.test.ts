import { expect, test } from 'vitest'
import { mutantsOf } from './mutants.ts'
import type { Ending, SeedResult } from './package-mutation.ts'
import { scoreLine, scoreRecord, survivorDiffs, survivorsOf } from './score.ts'

const text = 'f()\ng()\n'
const [first] = mutantsOf('a.ts', text)

function result(...endings: readonly Ending[]): SeedResult {
  return { seed: 3, verdicts: new Map(endings.map((each, id) => [{ ...first!, id }, each])) }
}

test('the score is that of the mutants that were judged', () => {
  const all = result('killed', 'timeout', 'survived', 'unreached', 'notCompiled', 'unjudged')
  expect(scoreLine('core', all)).toBe(
    'core: 2 of 4 mutants killed (50 %), seed 3, 1 of them by a timeout, 1 reached by no test, ' +
      '1 not counted: they do not compile, 1 not judged: their tests fail without',
  )
  expect(survivorsOf(all)).toBe(2)
  expect(scoreLine('core', result('notReached'))).toBe(
    'core: 0 of 0 mutants killed (-), seed 3, 1 not reached in the time',
  )
})

test('a run that was cut off says what the score may be at least', () => {
  expect(scoreLine('core', result('killed', 'killed', 'survived', 'undecided', 'notReached'))).toBe(
    'core: 2 of 3 mutants killed (67 %, at least 50 %), seed 3, ' +
      '1 passed by their near tests and undecided in the time, 1 not reached in the time',
  )
})

test('survivors are shown as what they change', () => {
  const diffs = survivorDiffs(result('killed', 'survived'), () => text)
  expect(diffs).toHaveLength(1)
  expect(diffs[0]).toContain('survived: remove-call at a.ts:1')
  expect(diffs[0]).toContain('-f()\n+;\n g()')
})

test('a record has the counts of a package and what has lived', () => {
  const all = result('killed', 'timeout', 'survived', 'unreached', 'notCompiled', 'undecided')
  expect(scoreRecord('core', all, () => text)).toMatchObject({
    package: 'core',
    seed: 3,
    mutants: 4,
    killed: 2,
    timeouts: 1,
    survived: 1,
    unreached: 1,
    notCompiled: 1,
    survivors: { length: 2 },
    open: { length: 1 },
  })
})
