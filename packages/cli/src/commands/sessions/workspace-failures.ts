import type { Message, WorkspaceFailedCode } from '@helix-agents/core'
import type { SessionState, SessionStateStore } from '@helix-agents/core/runtime'

/** Codes with which a workspace fails. */
export const WORKSPACE_FAILURES = [
  'provider-failed',
  'capability-missing',
  'config-invalid',
  'ref-invalid',
  'ref-version',
  'open-timeout',
  'sharing-not-declared',
  'working-directory-missing',
  'closed',
] as const satisfies readonly WorkspaceFailedCode[]

/** A workspace whose last call failed since it could not be opened or used. */
export interface WorkspaceFailure {
  /** Absent when the run failed before any call of it. */
  readonly workspace?: string
  readonly code: WorkspaceFailedCode
}

type ToolMessage = Extract<Message, { role: 'tool' }>

/** Messages of a session that are read: its last ones. */
const MAX_MESSAGES = 200
const TOOL = /^workspace__(?<workspace>.+?)__/
const ERROR = /^Error \[(?<code>[a-z-]+)\]/

/** Workspaces of a session that failed last, by its stored messages and the error of its run. */
export async function workspaceFailures(
  store: SessionStateStore,
  session: SessionState,
): Promise<readonly WorkspaceFailure[]> {
  const { error, messageCount, sessionId } = session
  const offset = Math.max(0, messageCount - MAX_MESSAGES)
  const { messages } = await store.loadMessages(sessionId, { offset, limit: MAX_MESSAGES })
  const failures = lastFailures(messages)
  const code = failureOf(error?.code)
  const isTold = failures.some((failure) => failure.code === code)
  return code === undefined || isTold ? failures : [...failures, { code }]
}

/** A later call of the same workspace that did not fail so ends its failure. */
function lastFailures(messages: readonly Message[]): readonly WorkspaceFailure[] {
  const failures = new Map<string, WorkspaceFailure>()
  for (const message of messages) {
    const call = message.role === 'tool' ? callOf(message) : undefined
    if (call === undefined) continue
    const { code, workspace } = call
    if (code === undefined) failures.delete(workspace)
    else failures.set(workspace, { workspace, code })
  }
  return [...failures.values()]
}

/** Which workspace a result is of, and how the workspace failed in it. */
function callOf({ content, isError, toolName }: ToolMessage) {
  const workspace = TOOL.exec(toolName)?.groups?.workspace
  if (workspace === undefined) return undefined
  const text = isError === true && typeof content === 'string' ? content : ''
  return { workspace, code: failureOf(ERROR.exec(text)?.groups?.code) }
}

function failureOf(code: string | undefined): WorkspaceFailedCode | undefined {
  return WORKSPACE_FAILURES.find((one) => one === code)
}
