import type { Clock } from '@helix-agents/core'
import type { SnapshotStore } from '@helix-agents/core/provider'
import type { SessionStateStore } from '@helix-agents/core/runtime'
import type { FleetStore } from '@helix-agents/sandbox-fleet'

/** Where text goes: a terminal, a pipe or a file. */
export interface TextStream {
  write(text: string): unknown
  /** Whether it is a terminal: colours and column widths depend on it. */
  readonly isTTY?: boolean
  /** Width of the terminal in columns. */
  readonly columns?: number
}

/** Where text comes from: a person at a terminal, a pipe or a file. */
export interface TextInput {
  /** Whether a person types: questions are asked only then. */
  readonly isTTY?: boolean
  /** The next line; empty at the end. */
  readLine(): Promise<string>
  /** Everything up to the end. */
  readAll(): Promise<string>
}

/** A session database that was opened. */
export interface OpenedSessions {
  readonly stateStore: SessionStateStore
  /** Closes the file. */
  close(): Promise<void> | void
}

/** A ledger of sandboxes that was opened for reading. */
export interface OpenedLedger {
  readonly store: FleetStore
  /** Closes the file. */
  close(): Promise<void> | void
}

/** A store of snapshots that was opened. */
export interface OpenedSnapshots {
  readonly store: SnapshotStore
  /** Ends its connections. */
  close(): Promise<void> | void
}

/** What the commands need of the machine. */
export interface CliHost {
  readonly stdin: TextInput
  readonly stdout: TextStream
  readonly stderr: TextStream
  /** Environment variables. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** The time, and timers of `--watch`. */
  readonly clock: Clock
  /** The network. */
  readonly fetch: typeof globalThis.fetch
  /** Opens an existing database, for reading unless it is `writable`; never makes one. */
  readonly openSessions: (
    file: string,
    options?: { readonly writable?: boolean },
  ) => Promise<OpenedSessions>
  /** Opens an existing ledger of sandboxes for reading. */
  readonly openLedger: (place: string) => Promise<OpenedLedger>
  /**
   * Opens a store of snapshots: a directory, `postgresql://…` or `s3://…`; makes none unless
   * `canCreate`. Default: the directory of local-bash.
   */
  readonly openSnapshots: (
    place: string | undefined,
    options: { readonly canCreate: boolean },
  ) => Promise<OpenedSnapshots>
  /** Runs `helix init` with its arguments. @returns its exit code. */
  readonly createProject: (args: readonly string[]) => Promise<number>
  /** Loads a module of the user by its absolute path. */
  readonly importModule: (path: string) => Promise<Readonly<Record<string, unknown>>>
  /** Resolves with the first signal that asks the process to end; a second one ends it. */
  readonly untilSignal: () => Promise<string>
  /** Whether the reader of the output has closed it: further work is useless. */
  readonly isOutputClosed: () => boolean
}
