/** Texts that operators search and alert on. They do not change; variables are fields. */
export const logMessages = {
  evictionRetryExhausted: 'workspace tool: eviction retry exhausted',
  shellMetacharacterRejected: 'workspace tool: shell metacharacter rejected',
  expansionRejected: 'workspace tool: glob/brace expansion rejected',
  commandNotInAllowlist: 'workspace tool: command not in allowlist',
  languageNotAllowed: 'workspace tool: language not allowed',
  pathDenied: 'workspace tool: path denied',
  crossSessionSnapshot: 'workspace tool: snapshot of another session rejected',
  subAgentWorkspaceName: 'sub-agent declares workspace name that exists on parent',
  tmpdirCloseFailed: 'tmpdir close failed',
  closeTimedOut: 'workspace close timed out',
  closeFailed: 'workspace close failed',
  openFailed: 'workspace open failed',
  workspaceLost: 'workspace lost',
  noIsolation: 'workspace has no isolation',
  allowedCommandStartsOthers: 'allowed command can start other commands',
  toolFailed: 'tool failed',
  /** Starts a line that stands for several; its field `suppressedCount` says for how many. */
  rateLimited: '[rate-limited]',
  rateLimitedOthers: 'further warnings of different kinds',
} as const
