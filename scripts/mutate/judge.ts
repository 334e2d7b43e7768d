import type { ReachingTests } from './coverage-map.ts'
import type { Plan } from './plan.ts'
import type { NumberedMutant } from './schema.ts'
import type { Selection, TestReport, TestRequest } from './tests/protocol.ts'
import type { RunEnd } from './tests/test-server.ts'

/**
 * What tests say of a mutant. `timeout` counts as killed. `unreached`: no test runs its code.
 * `unjudged`: its tests fail without it too.
 */
export type Verdict = 'killed' | 'timeout' | 'survived' | 'unreached' | 'unjudged'

/** What a judge works with. */
export interface JudgeParts {
  readonly run: (request: TestRequest) => Promise<RunEnd>
  readonly planOf: (mutant: NumberedMutant) => Plan
  /** What a mutant may take beside a multiple of what its tests take without it. */
  readonly graceMs: number
  /** What new processes may take to start, and to load what all files of tests need. */
  readonly startingMs: number
  /** Hears which tests have killed a mutant. */
  readonly onKill: (mutant: NumberedMutant, tests: readonly Selection[]) => void
  /** Hears of tests that fail without a mutant, and how. */
  readonly onFailingControl: (tests: readonly Selection[], how: string) => void
}

type Limits = Pick<TestRequest, 'limitMs' | 'testTimeoutMs'>

/** What shared processes say of a mutant, and the tests that have said it. */
interface Tried {
  readonly verdict: Verdict
  readonly suspects: readonly ReachingTests[]
}

/** How much longer tests may take with a mutant: the machine may be busier now. */
export const SLOWER = 3
/** A control in new processes is as good as new for so many mutants. */
const MUTANTS_A_CONTROL = 10
/** Shared processes end after so many runs with a mutant. */
const RUNS_A_PROCESS = 100

/**
 * Runs the tests that reach a mutant until one fails, and again without it: these have to pass.
 * First in processes that other mutants had before. Whatever these have left behind, a kill there is
 * one when the tests that have noticed pass at once without the mutant, in the same processes. All
 * else that ends there decides nothing: such a mutant gets new processes, and so do those that act
 * while files are loaded.
 */
export class Judge {
  readonly #parts: JudgeParts
  /** Selections that have passed in new processes without a mutant. */
  readonly #green = new Set<string>()
  #sinceControl = 0
  #runsInProcess = 0

  constructor(parts: JudgeParts) {
    this.#parts = parts
  }

  /** @param isLast whether it is to be known that a mutant survives: otherwise others will see to it. */
  async judge(mutant: NumberedMutant, isLast = true): Promise<Verdict> {
    this.#forgetOldControls()
    const plan = this.#parts.planOf(mutant)
    if (plan.tests.length === 0) return 'unreached'
    const { verdict, suspects } = await this.#judgeAmongOthers(mutant, plan)
    const isEnough = verdict === 'killed' || (verdict === 'survived' && !isLast)
    return isEnough ? verdict : this.#judgeAlone(mutant, plan.tests, suspects)
  }

  /** @param suspects tests that may have noticed it: they are tried before all are. */
  async #judgeAlone(
    mutant: NumberedMutant,
    all: readonly ReachingTests[],
    suspects: readonly ReachingTests[],
  ): Promise<Verdict> {
    if (suspects.length > 0 && suspects.length < all.length) {
      const verdict = await this.#judgeAlone(mutant, suspects, [])
      if (verdict === 'killed' || verdict === 'timeout') return verdict
    }
    const limits = this.#limitsOf(all, 'new')
    const verdict = await this.#try(mutant, all, limits)
    if (verdict !== 'unjudged') return verdict
    // Some tests need those before them in their file.
    const whole = all.map(({ file }) => ({ file }))
    return this.#try(mutant, whole, { ...limits, limitMs: SLOWER * limits.limitMs })
  }

  async #judgeAmongOthers(mutant: NumberedMutant, { tests, isLoaded }: Plan): Promise<Tried> {
    if (isLoaded) return { verdict: 'unjudged', suspects: [] }
    // After a failure the files that are left are loaded all the same, so the first runs alone.
    for (const some of [tests.slice(0, 1), tests.slice(1)]) {
      if (some.length === 0) continue
      const verdict = await this.#tryAmongOthers(mutant, some)
      if (verdict !== 'survived') return { verdict, suspects: some }
    }
    return { verdict: 'survived', suspects: [] }
  }

  async #tryAmongOthers(mutant: NumberedMutant, tests: readonly ReachingTests[]): Promise<Verdict> {
    const processes = this.#runsInProcess % RUNS_A_PROCESS === 0 ? 'renewed' : 'shared'
    this.#runsInProcess += 1
    const limits = this.#limitsOf(tests, processes)
    const end = await this.#parts.run({ mutant: mutant.id, tests, processes, ...limits })
    const noticed = noticedBy(end, tests)
    if (noticed.length === 0) return 'survived'
    if (typeof end === 'string') return this.#distrustProcesses()
    const again = noticed.map((selection) => untilFailure(selection, end))
    const control = { mutant: 0, tests: again, processes: 'shared', ...limits } as const
    if (noticedBy(await this.#parts.run(control), again).length > 0) {
      return this.#distrustProcesses()
    }
    this.#parts.onKill(mutant, noticed)
    return 'killed'
  }

  async #try(
    mutant: NumberedMutant,
    tests: readonly Selection[],
    limits: Limits,
  ): Promise<Verdict> {
    const end = await this.#parts.run({ mutant: mutant.id, tests, processes: 'new', ...limits })
    const noticed = noticedBy(end, tests)
    if (noticed.length === 0) return 'survived'
    if (!(await this.#passWithout(noticed, 2 * limits.limitMs))) return 'unjudged'
    this.#parts.onKill(mutant, noticed)
    return end === 'timed-out' ? 'timeout' : 'killed'
  }

  #distrustProcesses(): 'unjudged' {
    this.#runsInProcess = 0
    return 'unjudged'
  }

  #limitsOf(tests: readonly ReachingTests[], processes: TestRequest['processes']): Limits {
    const { graceMs, startingMs } = this.#parts
    // A process that runs share may meet a file of tests for the first time.
    const ms = tests.reduce((sum, each) => sum + each.ms + each.loadingMs, 0)
    const longestMs = tests.reduce((longest, each) => Math.max(longest, each.ms), 0)
    const limitMs = graceMs + SLOWER * ms + (processes === 'shared' ? 0 : startingMs)
    return { limitMs, testTimeoutMs: graceMs + SLOWER * longestMs }
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
    const end = await this.#parts.run({ mutant: 0, tests: left, processes: 'new', limitMs })
    if (noticedBy(end, left).length > 0) {
      this.#parts.onFailingControl(left, failureOf(end))
      return false
    }
    for (const selection of left) this.#green.add(keyOf(selection))
    return true
  }
}

/** The tests that have failed; all when it is not known which. */
function noticedBy(end: RunEnd, tests: readonly Selection[]): readonly Selection[] {
  const failed = failedFiles(end)
  return tests.filter(({ file }) => failed?.includes(file) ?? true)
}

/** Nothing when it is not known which: after an error that belongs to no test, or without a report. */
function failedFiles(end: RunEnd): readonly string[] | undefined {
  if (typeof end === 'string') return undefined
  const failed = end.files.filter(({ passed }) => !passed).map(({ file }) => file)
  return failed.length === 0 && end.errors.length > 0 ? undefined : failed
}

/** The tests of a file before the one that has failed, and this one. */
function untilFailure(selection: Selection, { files }: TestReport): Selection {
  const { tests } = files.find(({ file }) => file === selection.file) ?? { tests: [] }
  const failed = tests.find(({ state }) => state === 'failed')
  if (selection.ids === undefined || failed === undefined) return selection
  return { ...selection, ids: selection.ids.slice(0, selection.ids.indexOf(failed.id) + 1) }
}

function failureOf(end: RunEnd): string {
  if (typeof end === 'string') return end
  return [...end.files.flatMap(({ failure }) => failure ?? []), ...end.errors].join('; ')
}

function keyOf({ file, ids }: Selection): string {
  return [file, ...(ids ?? [])].join(' ')
}
