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
  /**
   * Whether the tests have new processes, which end with the run, or share those of the runs before:
   * what is loaded there stays, and so does what a mutant has left behind. `renewed` are new ones
   * which later runs share.
   */
  readonly processes: 'new' | 'shared' | 'renewed'
  /** What takes longer is killed. */
  readonly limitMs: number
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
  /** The mutants that were reached while files were loaded, by this file or by those before. */
  readonly loaded: readonly number[]
  /** The mutants that were reached otherwise outside of its tests: in hooks and in processes. */
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
  /** What was reached while files with mutants were loaded, also by a test. */
  readonly loaded: Set<number>
  /** How many of them are being loaded. */
  loading: number
}

declare global {
  var helixMutants: MutantState | undefined
}

declare module 'vitest' {
  interface ProvidedContext {
    helixMutant: number
    /** For a test that has no limit of its own; 0 is none. */
    helixTestTimeout: number
  }
  interface TaskMeta {
    /** The mutants that were reached. */
    mutants?: number[]
    /** Those that were reached while files were loaded. */
    loadedMutants?: number[]
  }
}
