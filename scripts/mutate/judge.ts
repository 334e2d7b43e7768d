import type { Plan } from './plan.ts'
import type { NumberedMutant } from './schema.ts'
import type { Selection, TestRequest } from './tests/protocol.ts'
import type { RunEnd } from './tests/test-server.ts'

/**
 * What tests say of a mutant. `timeout` counts as killed. `unreached`: no test runs its code.
 * `unjudged`: its tests fail without it too.
 */
export type Verdict = 'killed' | 'timeout' | 'survived' | 'unreached' | 'unjudged'

/** What a judge works with. */
export interface JudgeParts {
  /** Runs tests for so long at most. */
  readonly run: (request: TestRequest, limitMs: number) => Promise<RunEnd>
  readonly planOf: (mutant: NumberedMutant) => Plan
  /** What a mutant may take beside a multiple of what its tests take without it. */
  readonly graceMs: number
  /** Hears of tests that fail without a mutant, and how. */
  readonly onFailingControl: (tests: readonly Selection[], how: string) => void
}

/** How much longer tests may take with a mutant: the machine may be busier now. */
const SLOWER = 5
/** A control is as good as new for so many mutants. */
const MUTANTS_A_CONTROL = 10

/** Runs the tests that reach a mutant until one fails, and again without it: these have to pass. */
export class Judge {
  readonly #parts: JudgeParts
  /** Selections that have passed without a mutant. */
  readonly #green = new Set<string>()
  #sinceControl = 0

  constructor(parts: JudgeParts) {
    this.#parts = parts
  }

  async judge(mutant: NumberedMutant): Promise<Verdict> {
    this.#forgetOldControls()
    const plan = this.#parts.planOf(mutant)
    if (plan.tests.length === 0) return 'unreached'
    const verdict = await this.#try(mutant.id, plan.tests, plan.ms)
    if (verdict !== 'unjudged') return verdict
    // Some tests need those before them in their file.
    const whole = plan.tests.map(({ file }) => ({ file }))
    return this.#try(mutant.id, whole, plan.ms * SLOWER)
  }

  async #try(id: number, tests: readonly Selection[], ms: number): Promise<Verdict> {
    const limitMs = this.#parts.graceMs + SLOWER * ms
    const request = { mutant: id, tests, testTimeoutMs: this.#parts.graceMs }
    const end = await this.#parts.run(request, limitMs)
    const failed = failedFiles(end)
    if (failed?.length === 0) return 'survived'
    const noticed = tests.filter(({ file }) => failed?.includes(file) ?? true)
    if (!(await this.#passWithout(noticed, limitMs))) return 'unjudged'
    return end === 'timed-out' ? 'timeout' : 'killed'
  }

  #forgetOldControls(): void {
    this.#sinceControl += 1
    if (this.#sinceControl < MUTANTS_A_CONTROL) return
    this.#sinceControl = 0
    this.#green.clear()
  }

  async #passWithout(tests: readonly Selection[], limitMs: number): Promise<boolean> {
    const left = tests.filter((selection) => !this.#green.has(keyOf(selection)))
    if (left.length === 0) return true
    const end = await this.#parts.run({ mutant: 0, tests: left }, 2 * limitMs)
    if (failedFiles(end)?.length !== 0) {
      this.#parts.onFailingControl(left, failureOf(end))
      return false
    }
    for (const selection of left) this.#green.add(keyOf(selection))
    return true
  }
}

/** Nothing when it is not known which: after an error that belongs to no test, or without a report. */
function failedFiles(end: RunEnd): readonly string[] | undefined {
  if (typeof end === 'string') return undefined
  const failed = end.files.filter(({ passed }) => !passed).map(({ file }) => file)
  return failed.length === 0 && end.errors.length > 0 ? undefined : failed
}

function failureOf(end: RunEnd): string {
  if (typeof end === 'string') return end
  return [...end.files.flatMap(({ failure }) => failure ?? []), ...end.errors].join('; ')
}

function keyOf({ file, ids }: Selection): string {
  return [file, ...(ids ?? [])].join(' ')
}
