import { logMessages } from '@helix-agents/core/provider'
import { expect, test } from 'vitest'

/** Operators have alerts on these words: whoever changes one breaks them. */
test('the texts that operators search for stay as they are', () => {
  expect(logMessages).toMatchObject({
    evictionRetryExhausted: 'workspace tool: eviction retry exhausted',
    shellMetacharacterRejected: 'workspace tool: shell metacharacter rejected',
    expansionRejected: 'workspace tool: glob/brace expansion rejected',
    commandNotInAllowlist: 'workspace tool: command not in allowlist',
    languageNotAllowed: 'workspace tool: language not allowed',
    pathDenied: 'workspace tool: path denied',
    pathEscapeRejected: 'workspace tool: path outside the workspace rejected',
    readOnlyRejected: 'workspace tool: change of a read-only workspace rejected',
    crossSessionSnapshot: 'workspace tool: snapshot of another session rejected',
    subAgentWorkspaceName: 'sub-agent declares workspace name that exists on parent',
    tmpdirCloseFailed: 'tmpdir close failed',
    workspaceLost: 'workspace lost',
    rateLimited: '[rate-limited]',
  })
})
