/** Text of a finished script; its outputs are ASCII or UTF-8 by agreement. */
export interface ScriptOutput {
  readonly stdout: string
  readonly stderr: string
  readonly exitCode: number
}

export interface ScriptCall {
  /** Deadline of the call, on top of the time that a container needs to start. */
  readonly deadlineMs: number
  /** Does no harm when it runs twice: it is repeated also when it may have run. */
  readonly isRepeatable: boolean
  readonly signal?: AbortSignal
}

/**
 * All that the common part of the drivers needs of a platform. Each method is one round trip
 * and rejects with a `DriverError`.
 */
export interface ScriptRunner {
  /** Runs a script with bash, in the directory `/`. */
  run(script: string, call: ScriptCall): Promise<ScriptOutput>
  /** Writes a file as it is; parents are made. The names of what a failure leaves start with its own. */
  store(
    path: string,
    data: Uint8Array | ReadableStream<Uint8Array>,
    call: ScriptCall,
  ): Promise<void>
  /** Reads a file as it is. */
  fetch(path: string, call: ScriptCall): Promise<ReadableStream<Uint8Array>>
}
