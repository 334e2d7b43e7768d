import type { Mutant } from './mutants.ts'
import type { TestsEnd } from './run-tests.ts'

/** What tests say of a mutant. `unjudged`: they fail without it too. */
export type Verdict = 'killed' | 'survived' | 'unjudged'

/** What a judge works with. */
export interface JudgeParts {
  /** Runs tests; with a mutant when there is one. */
  readonly run: (files: readonly string[], mutant?: Mutant) => Promise<TestsEnd>
  /** The tests of a file, near ones first. */
  readonly testsOf: (file: string) => readonly string[]
  /** How many tests run for a mutant at most. */
  readonly maxTests: number
}

/** Tests that run first: most mutants die by these. */
const FIRST = 5

/** Runs the tests of a mutated file, the nearest first, until one fails. */
export class Judge {
  readonly #parts: JudgeParts
  /** Tests that have passed, with a mutant or without one. */
  readonly #green = new Set<string>()

  constructor(parts: JudgeParts) {
    this.#parts = parts
  }

  async judge(mutant: Mutant): Promise<Verdict> {
    const tests = this.#parts.testsOf(mutant.file).slice(0, this.#parts.maxTests)
    for (const files of [tests.slice(0, FIRST), tests.slice(FIRST)]) {
      if (files.length === 0) continue
      if ((await this.#parts.run(files, mutant)) !== 'passed') {
        return (await this.#areGreen(files)) ? 'killed' : 'unjudged'
      }
      for (const file of files) this.#green.add(file)
    }
    return 'survived'
  }

  /** Whether tests pass without a mutant, all together. */
  async #areGreen(files: readonly string[]): Promise<boolean> {
    if (files.every((file) => this.#green.has(file))) return true
    if ((await this.#parts.run(files)) !== 'passed') return false
    for (const file of files) this.#green.add(file)
    return true
  }
}
