// What passes between an interpreter and the session that runs its code, perhaps in another thread.

/** Bounds of one session. */
export interface SessionLimits {
  /** Bytes that the code may hold. */
  readonly memoryBytes: number
  /** Bytes of its stack. */
  readonly stackBytes: number
  /** Bytes of text that a run returns: output, and its result. */
  readonly outputBytes: number
  /** Bytes of displays that a run returns. */
  readonly displayBytes: number
}

/** One run of code. */
export interface SessionRequest {
  readonly language: string
  readonly code: string
  readonly timeoutMs: number
}

/** One output, in the order in which the code gave them. */
export type SessionOutput =
  | { readonly type: 'stdout' | 'stderr'; readonly text: string }
  | { readonly type: 'display'; readonly mime: string; readonly data: string | Uint8Array }

/** How a run ended. */
export interface SessionOutcome {
  readonly error?: { readonly name: string; readonly message: string; readonly trace?: string }
  /** The value as JSON. */
  readonly json?: string
  /** The value as a person reads it, where it is no JSON. */
  readonly text?: string
  /** Ended by its time, by an abort, or by what the interpreter does not survive. */
  readonly ended?: 'timeout' | 'aborted' | 'crashed'
}

/** An operation on the files of the workspace. */
export interface FileCall {
  readonly op: string
  readonly args: readonly unknown[]
  readonly data?: string | Uint8Array
}

/** Its answer, bytes or JSON; a failure is what code catches. */
export type FileReply =
  | { readonly bytes?: Uint8Array; readonly json?: string }
  | { readonly failure: { readonly name: string; readonly code: string; readonly message: string } }

/** What a session reaches outside of itself. */
export interface SessionHost {
  readonly callFile: (call: FileCall) => Promise<FileReply>
  readonly onOutputs: (outputs: readonly SessionOutput[]) => void
  readonly isAborted: () => boolean
}
