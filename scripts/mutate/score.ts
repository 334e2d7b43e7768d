import { createTwoFilesPatch } from 'diff'
import type { Ending, SeedResult } from './package-mutation.ts'

/** How many mutants have ended how. */
function countOf({ verdicts }: SeedResult, ...endings: readonly Ending[]): number {
  return [...verdicts.values()].filter((ending) => endings.includes(ending)).length
}

/** How many mutants no test has noticed. */
export function survivorsOf(result: SeedResult): number {
  return countOf(result, 'survived', 'unreached')
}

/** The score of a package by one seed, in a line. */
export function scoreLine(name: string, result: SeedResult): string {
  const timeouts = countOf(result, 'timeout')
  const killed = countOf(result, 'killed') + timeouts
  const judged = killed + survivorsOf(result)
  const undecided = countOf(result, 'undecided')
  const score = judged === 0 ? '-' : percentOf(killed, judged)
  const least = undecided === 0 ? '' : `, at least ${percentOf(killed, judged + undecided)}`
  const others = [
    [timeouts, 'of them by a timeout'],
    [countOf(result, 'unreached'), 'reached by no test'],
    [countOf(result, 'notCompiled'), 'not counted: they do not compile'],
    [countOf(result, 'unjudged'), 'not judged: their tests fail without'],
    [undecided, 'passed by their near tests and undecided in the time'],
    [countOf(result, 'notReached'), 'not reached in the time'],
  ] as const
  const rest = others.filter(([count]) => count > 0).map(([count, what]) => `, ${count} ${what}`)
  return `${name}: ${killed} of ${judged} mutants killed (${score}${least}), seed ${result.seed}${rest.join('')}`
}

function percentOf(part: number, whole: number): string {
  return `${Math.round((100 * part) / whole)} %`
}

/** What `--json` writes of a package and a seed: counts of all endings, and each that lived or is undecided. */
export function scoreRecord(
  name: string,
  result: SeedResult,
  originalOf: (file: string) => string,
): unknown {
  const killed = countOf(result, 'killed', 'timeout')
  const survived = countOf(result, 'survived')
  const unreached = countOf(result, 'unreached')
  return {
    package: name,
    seed: result.seed,
    mutants: killed + survived + unreached,
    killed,
    timeouts: countOf(result, 'timeout'),
    survived,
    unreached,
    notCompiled: countOf(result, 'notCompiled'),
    unjudged: countOf(result, 'unjudged'),
    undecided: countOf(result, 'undecided'),
    notReached: countOf(result, 'notReached'),
    survivors: survivorDiffs(result, originalOf),
    open: diffsOf(result, originalOf, ['undecided']),
  }
}

/** What each survivor changes, as unified diffs. */
export function survivorDiffs(
  result: SeedResult,
  originalOf: (file: string) => string,
): readonly string[] {
  return diffsOf(result, originalOf, ['survived', 'unreached'])
}

function diffsOf(
  { verdicts }: SeedResult,
  originalOf: (file: string) => string,
  endings: readonly Ending[],
): readonly string[] {
  return [...verdicts]
    .filter(([, ending]) => endings.includes(ending))
    .map(([{ file, text, operator, line }, ending]) => {
      const names = [`a/${file}`, `b/${file}`] as const
      const patch = createTwoFilesPatch(...names, originalOf(file), text, '', '', { context: 2 })
      return `${ending}: ${operator} at ${file}:${line}\n${patch}`
    })
}
