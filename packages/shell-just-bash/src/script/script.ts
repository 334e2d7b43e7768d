import type { CommandFiles, FileStat } from '@helix-agents/core/provider'

/** The calls that a script makes on the files of its workspace. */
export interface ScriptFiles extends CommandFiles {
  /** Stores what is gathered; the version that this returns is that of the stored file. */
  settle(path: string): Promise<FileStat>
}

/** Bounds of one command, whatever its time limit is. */
export interface ScriptLimits {
  /** Commands that one command line may run, loops included. */
  readonly maxCommands: number
  /** Rounds of one loop of the shell, of awk, sed and jq. */
  readonly maxLoopIterations: number
  /** Nested function calls. */
  readonly maxCallDepth: number
  /** Longest value of a variable, in bytes. */
  readonly maxStringBytes: number
  /** All that one command holds in memory at once: variables, pipes, sorted lines, in bytes. */
  readonly maxMemoryBytes: number
  /** Names that one traversal visits: globs, `find`, `grep -r`. */
  readonly maxVisitedFiles: number
}

/** One command line with its surroundings. Plain data: it may be sent to a thread. */
export interface Script {
  readonly source: string
  /** Path in the shell, such as `/workspace/src`. */
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  readonly limits: ScriptLimits
  /** Names of the commands that the host runs. */
  readonly hostCommands: readonly string[]
  /** Prefixes of URLs that `curl` may fetch. Empty: there is no `curl`. */
  readonly allowedUrls: readonly string[]
  /** Permissions and times that earlier commands set. */
  readonly metadata: readonly MetadataEntry[]
}

/** Path in the workspace, with what commands set for it. */
export type MetadataEntry = readonly [path: string, entry: FileAttributes]

/** What the files of a workspace do not have. */
export interface FileAttributes {
  readonly mode?: number
  /** Holds while the file has this version. */
  readonly time?: { readonly modified: Date; readonly version: string }
}

/** A command of the host, as a script calls it. */
export interface HostCommandCall {
  readonly name: string
  readonly args: readonly string[]
  readonly stdin: Uint8Array
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
}

/** What a command of the host gives back. */
export interface HostCommandResult {
  readonly stdout?: string | Uint8Array
  readonly stderr?: string
  /** Default 0. */
  readonly exitCode?: number
}

/** What a script reaches outside of itself. */
export interface ScriptHost {
  readonly files: ScriptFiles
  /** Resolves when the next piece may come. */
  write(output: OutputName, piece: Uint8Array): Promise<void>
  runCommand(call: HostCommandCall): Promise<HostCommandResult>
  /**
   * Now and then lets timers run.
   * @param rounds Of small steps, which were done since the last call. Default 1.
   * @throws when the script was ended.
   */
  turn(rounds?: number): Promise<void>
}

export type OutputName = 'stdout' | 'stderr'

export interface ScriptEnd {
  readonly exitCode: number
  /** Replaces that of the script, unless the script was ended by force. */
  readonly metadata?: readonly MetadataEntry[]
}

/** Runs scripts, in this thread or in another. */
export interface ScriptRunner {
  /** Settles soon after `signal` aborts; then nothing of the script runs any more. */
  run(script: Script, host: ScriptHost, signal: AbortSignal): Promise<ScriptEnd>
  close(): Promise<void>
}

/** Where the workspace is for commands. */
export const SHELL_ROOT = '/workspace'
/** Where `/tmp` of the shell is in the workspace. */
export const TEMPORARY_DIRECTORY = '/.helix/tmp'
/** `$$` of every script. */
export const SHELL_PID = 100
