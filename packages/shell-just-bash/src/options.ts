import type { ScriptLimits } from './script/script.ts'
import type { HostCommandCall, HostCommandResult } from './script/script.ts'

/** A command of yours, which scripts use like any other: in pipes, loops and `$(…)`. */
export interface ShellCommandDefinition {
  readonly name: string
  /** Runs in your process, with its rights. What it throws is shown to the model as its message. */
  run(call: HostCommandCall & { readonly signal: AbortSignal }): Promise<HostCommandResult>
}

/** How {@link justBashShell} is set up. */
export interface JustBashShellOptions {
  /** Commands of your own. One with the name of a built-in command replaces it. */
  readonly commands?: readonly ShellCommandDefinition[]
  /** Added to the environment of every command. Default: nothing of the host. */
  readonly env?: Readonly<Record<string, string>>
  /** Prefixes of URLs that `curl` may fetch, with GET and HEAD. Default: no network, no `curl`. */
  readonly allowedUrls?: readonly string[]
  /** Time of a command that asks for none, in ms. Default 120,000. */
  readonly defaultTimeoutMs?: number
  /** Bytes of each output to return, unless a call asks for less or more. Default 1 MiB. */
  readonly maxOutputBytes?: number
  /** All output of one command, in bytes; then it is ended. Default 64 MiB. */
  readonly maxTotalOutputBytes?: number
  /** Bounds that hold whatever the time is. */
  readonly limits?: Partial<ScriptLimits>
  /** Commands that run at once, over all workspaces; in Node each has a thread. Default 4. */
  readonly maxConcurrent?: number
}

const MEGABYTE = 1024 * 1024

/** The options with their defaults. */
export interface ShellSettings {
  readonly commands: ReadonlyMap<string, ShellCommandDefinition>
  readonly env: Readonly<Record<string, string>>
  readonly allowedUrls: readonly string[]
  readonly defaultTimeoutMs: number
  readonly maxOutputBytes: number
  readonly maxTotalOutputBytes: number
  readonly limits: ScriptLimits
}

export function readSettings(options: JustBashShellOptions, limits: ScriptLimits): ShellSettings {
  return {
    commands: new Map((options.commands ?? []).map((command) => [command.name, command])),
    env: options.env ?? {},
    allowedUrls: options.allowedUrls ?? [],
    defaultTimeoutMs: options.defaultTimeoutMs ?? 120_000,
    maxOutputBytes: options.maxOutputBytes ?? MEGABYTE,
    maxTotalOutputBytes: options.maxTotalOutputBytes ?? 64 * MEGABYTE,
    limits: { ...limits, ...options.limits },
  }
}

/** Where a thread can be ended, time is the bound, and these only keep memory small. */
export const THREAD_LIMITS: ScriptLimits = {
  maxCommands: 10_000_000,
  maxLoopIterations: 10_000_000,
  maxCallDepth: 500,
  maxStringBytes: 16 * MEGABYTE,
  maxMemoryBytes: 128 * MEGABYTE,
  maxVisitedFiles: 1_000_000,
}

/** Where only a script itself can let timers run, these bound what it does between its turns. */
export const ISOLATE_LIMITS: ScriptLimits = {
  // A round of a loop costs two more: its turn.
  maxCommands: 60_000,
  maxLoopIterations: 20_000,
  maxCallDepth: 100,
  maxStringBytes: 8 * MEGABYTE,
  maxMemoryBytes: 32 * MEGABYTE,
  maxVisitedFiles: 100_000,
}
