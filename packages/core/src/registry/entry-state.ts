/** States of one workspace of a session. */
export type WorkspaceState =
  | 'declared'
  | 'opening'
  | 'open'
  | 'evicted'
  | 'failed'
  | 'closing'
  | 'closed'
