/** The connection that a call came over. */
export interface Connection {
  /** Aborted when it is gone: what only it wanted may stop. */
  readonly closed: AbortSignal
  /** Ends it because a reply would be larger than the other side takes. */
  overflow(): void
}
