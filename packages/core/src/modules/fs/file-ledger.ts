/** What one agent knows of one file. */
export interface LedgerEntry {
  readonly version: string
  /** Line ranges that were read, merged and sorted; absent when the whole file is known. */
  readonly ranges?: readonly (readonly [first: number, last: number])[]
}

/** The ledger as it is stored with the session. */
export interface FileLedgerSnapshot {
  /** Agent → path → what it knows. */
  readonly known: Readonly<Record<string, Readonly<Record<string, LedgerEntry>>>>
  /** Path → the last writer among the agents of the session. */
  readonly writers: Readonly<Record<string, { readonly actor: string; readonly version: string }>>
}

/** Which versions of which files the agents of a session have seen and written. */
export class FileLedger {}
