/** Texts that operators search and alert on. They do not change; variables are fields. */
export const logMessages = {
  /** An evicted workspace could not be used again: see `code` and `err`. */
  evictionRetryExhausted: 'workspace tool: eviction retry exhausted',
  /** A command with an operator, a redirect or a substitution met an allowlist. */
  shellMetacharacterRejected: 'workspace tool: shell metacharacter rejected',
  /** A command with a glob or a brace met an allowlist. */
  expansionRejected: 'workspace tool: glob/brace expansion rejected',
  /** The program is not in `shell.allowedCommands`. */
  commandNotInAllowlist: 'workspace tool: command not in allowlist',
  /** The language is not in `code.languages`. */
  languageNotAllowed: 'workspace tool: language not allowed',
  /** `fs.pathRules` forbid the path. */
  pathDenied: 'workspace tool: path denied',
  /** A path led out of the workspace. */
  pathEscapeRejected: 'workspace tool: path outside the workspace rejected',
  /** A change was asked for under `fs.readOnly`. */
  readOnlyRejected: 'workspace tool: change of a read-only workspace rejected',
  /** A snapshot of another session was to be restored. */
  crossSessionSnapshot: 'workspace tool: snapshot of another session rejected',
  /** A snapshot does not hold everything: see `count`, and `losses` for the first paths. */
  snapshotIncomplete: 'snapshot does not hold everything',
  /** A restored workspace does not hold everything: see `count`, and `losses` for the first paths. */
  restoreIncomplete: 'restored workspace does not hold everything',
  /** The sub-agent has a workspace of its own under this name, not the one of its parent. */
  subAgentWorkspaceName: 'sub-agent declares workspace name that exists on parent',
  /** A directory could not be removed: `path`, and `holders`, the processes that use it. */
  tmpdirCloseFailed: 'tmpdir close failed',
  /** A close took longer than `closeTimeoutMs`; it is owed. */
  closeTimedOut: 'workspace close timed out',
  /** A close failed; unless it was a detach it is owed. */
  closeFailed: 'workspace close failed',
  /** A workspace could not be opened after all retries: see `code` and `err`. */
  openFailed: 'workspace open failed',
  /** The files of a step could not be kept: its checkpoint has none. See `err`. */
  historySnapshotFailed: 'history: snapshot failed',
  /** What a session has let go could not be freed; the next collection tries again. */
  historyNotReleased: 'history: not released',
  /** What a provider holds for a session could not be listed; the next collection tries again. */
  historyNotListed: 'history: not listed',
  /** A collection failed; the next one tries again. */
  historyNotCollected: 'history: not collected',
  /** The backend is gone, and so are the files of its newest step: a fresh workspace takes its place. */
  historyNotRestored: 'history: not restored',
  /** The backend is gone for good; one with the files of its history, or a fresh one, takes its place. */
  workspaceLost: 'workspace lost',
  /** Commands use the files and the network of the host: see `containment`; once a provider object. */
  noIsolation: 'workspace has no isolation',
  /** A program of an allowlist is not known to start no other one: see `commands`. */
  allowedCommandStartsOthers: 'allowed command may start other commands',
  /** A lifecycle listener threw: see `err`. The run continues. */
  lifecycleListenerFailed: 'workspace lifecycle listener failed',
  /**
   * A tool call failed. The model read a short form of it, `err` is the whole: at `error` of what no
   * error of the framework says, at `warn` of one with a `cause`, at `debug` of any other.
   * The same warning again within a minute is counted only.
   */
  toolFailed: 'tool failed',
  /** Starts a line that stands for several; its field `suppressedCount` says for how many. */
  rateLimited: '[rate-limited]',
  rateLimitedOthers: 'further warnings of different kinds',
} as const
