/** Id of a context: code that runs in it keeps its variables. */
export type CodeContextId = string & { readonly __brand: 'CodeContextId' }

/** One output of a run of code. */
export type CodeOutput =
  | { readonly type: 'stdout' | 'stderr'; readonly data: Uint8Array }
  | { readonly type: 'display'; readonly mime: string; readonly data: Uint8Array }
  | { readonly type: 'result'; readonly value: unknown }

/** Options of one run of code. */
export interface RunCodeOptions {
  readonly signal?: AbortSignal
  readonly timeoutMs?: number
  /** Awaited for each output as it comes. */
  onOutput?(output: CodeOutput): void | Promise<void>
}

/** The result of one run of code. */
export interface RunCodeResult {
  readonly outputs: readonly CodeOutput[]
  readonly exitCode: number
  /** What the interpreter said when the code threw. */
  readonly error?: { readonly name: string; readonly message: string; readonly trace?: string }
}

/** Runs snippets. The context methods exist only when `isStateful` is true. */
export interface CodeInterpreter {
  readonly languages: readonly string[]
  readonly isStateful: boolean
  /** @throws {ToolInputError} `invalid-input` for a language that is not offered. */
  runCode(language: string, code: string, options?: RunCodeOptions): Promise<RunCodeResult>
  /** Opens a context whose variables stay between runs. */
  createContext?(language: string): Promise<CodeContextId>
  runInContext?(
    context: CodeContextId,
    code: string,
    options?: RunCodeOptions,
  ): Promise<RunCodeResult>
  deleteContext?(context: CodeContextId): Promise<void>
}
