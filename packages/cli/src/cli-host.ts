import type { Clock, SessionStateStore } from '@helix-agents/core'

/** Where text goes: a terminal, a pipe or a file. */
export interface TextStream {
  write(text: string): unknown
  readonly isTTY?: boolean
  /** Width of the terminal in columns. */
  readonly columns?: number
}

/** A session database that was opened for reading. */
export interface OpenedSessions {
  readonly stateStore: SessionStateStore
  close(): Promise<void> | void
}

/** What the commands need of the machine. */
export interface CliHost {
  readonly stdout: TextStream
  readonly stderr: TextStream
  readonly env: Readonly<Record<string, string | undefined>>
  readonly clock: Clock
  readonly fetch: typeof globalThis.fetch
  /** Opens an existing database without changing it; never makes one. */
  readonly openSessions: (file: string) => Promise<OpenedSessions>
  /** Whether the reader of the output went away: work for nobody can stop. */
  readonly isOutputClosed: () => boolean
}
