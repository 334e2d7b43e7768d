/** The variable of the environment that switches a mutant on in child processes. */
export const ACTIVE_MUTANT = 'HELIX_MUTANT'
/** The variable that names the file to which child processes add what they reach. */
export const REACHED_FILE = 'HELIX_MUTANTS_REACHED'
/** The active mutant of a run that records which mutants its tests reach. */
export const RECORDING = -1

/** A file of tests, or some of its tests. */
export interface Selection {
  /** From the root of the repository. */
  readonly file: string
  /** Vitest's ids of the tests; all of the file without. */
  readonly ids?: readonly string[]
}

/** Asks the server of the tests for a run. */
export interface TestRequest {
  /** The number that is switched on; 0 for the program as it is, `RECORDING` to record. */
  readonly mutant: number
  readonly tests: readonly Selection[]
  /** For a test that has no limit of its own. */
  readonly testTimeoutMs?: number
}

/** What the server answers. */
export interface TestReport {
  readonly files: readonly FileReport[]
  /** Errors that belong to no test. */
  readonly errors: readonly string[]
}

/** How a file of tests has ended. */
export interface FileReport {
  readonly file: string
  readonly passed: boolean
  /** The message of its first error. */
  readonly failure?: string | undefined
  /** With loading and hooks. */
  readonly ms: number
  /** The mutants that were reached outside of its tests: while it loaded, in hooks, in processes. */
  readonly reached: readonly number[]
  readonly tests: readonly OneTestReport[]
}

/** How a test has ended. */
export interface OneTestReport {
  readonly id: string
  readonly name: string
  readonly state: 'passed' | 'failed' | 'skipped' | 'pending'
  readonly ms: number
  readonly reached: readonly number[]
}

/** What a mutant's switch reads from the global of a process. */
export interface MutantState {
  readonly active: number
  readonly reached: Set<number>
}

declare global {
  var helixMutants: MutantState | undefined
}

declare module 'vitest' {
  interface ProvidedContext {
    helixMutant: number
  }
  interface TaskMeta {
    /** The mutants that were reached. */
    mutants?: number[]
  }
}
