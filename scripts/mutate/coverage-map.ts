import type { FileReport, OneTestReport, Selection } from './tests/protocol.ts'

/** Tests of a file that reach a mutant, with what they take. */
export interface ReachingTests extends Selection {
  readonly ids: readonly string[]
  readonly ms: number
  /** What loading the file has taken, in a process that had not loaded it. */
  readonly loadingMs: number
}

/** Which tests reach which mutants, from a run without any. Tests that fail in it are left out. */
export class CoverageMap {
  readonly #files = new Map<string, FileReport>()

  add(report: FileReport): void {
    this.#files.set(report.file, report)
  }

  /** Files of which something fails without a mutant. */
  get failing(): readonly FileReport[] {
    return [...this.#files.values()].filter(({ passed }) => !passed)
  }

  /** What loading a file took at most: the first one of a process loads what others need too. */
  get longestLoadingMs(): number {
    return Math.max(0, ...[...this.#files.values()].map(loadingMsOf))
  }

  /** Whether a mutant acts while files are loaded. */
  isLoaded(mutant: number): boolean {
    return [...this.#files.values()].some(({ loaded }) => loaded.includes(mutant))
  }

  /** The tests of a file that reach a mutant: all, when it acts outside of tests. */
  testsReaching(mutant: number, file: string): ReachingTests | undefined {
    const report = this.#files.get(file)
    if (report === undefined) return undefined
    const all = passedTests(report)
    const isOutside = report.loaded.includes(mutant) || report.reached.includes(mutant)
    const tests = isOutside ? all : all.filter(({ reached }) => reached.includes(mutant))
    if (tests.length === 0) return undefined
    const ids = tests.map(({ id }) => id)
    return { file, ids, ms: sumOf(tests), loadingMs: loadingMsOf(report) }
  }
}

function loadingMsOf({ ms, tests }: FileReport): number {
  return Math.max(ms - sumOf(tests), 0)
}

function passedTests({ passed, tests }: FileReport): readonly OneTestReport[] {
  // What fails beside its tests may fail by its hooks: then none of them tells anything.
  if (!passed && tests.every(({ state }) => state !== 'failed')) return []
  return tests.filter(({ state }) => state === 'passed')
}

function sumOf(tests: readonly OneTestReport[]): number {
  return tests.reduce((sum, { ms }) => sum + ms, 0)
}
