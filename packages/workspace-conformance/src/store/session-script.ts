import type { Message } from '@helix-agents/core'
import type { WorkspaceRef } from '@helix-agents/core/provider'
import type {
  FileVersionsSnapshot,
  JournalEntry,
  JournalResult,
  MessagePage,
  NewSession,
  RunEnd,
  RunWrite,
  SessionState,
  SessionStateStore,
  StepCommit,
} from '@helix-agents/core/runtime'
import { check } from '../assert.ts'

/** When scripted sessions start; milliseconds since the epoch. */
export const START = 1_700_000_000_000
export const LEASE_MS = 30_000

export function newSession(over: Partial<NewSession> = {}): NewSession {
  return { sessionId: 'session', agentType: 'agent', customState: undefined, now: START, ...over }
}

export function userMessage(content: string): Message {
  return { role: 'user', content }
}

export function refTo(id: string): WorkspaceRef {
  return { providerId: 'p', schemaVersion: 1, capabilities: { fs: true }, ref: { id } }
}

export function journaled(toolCallId: string): JournalEntry {
  return { toolCallId, toolName: 'write', arguments: { path: toolCallId }, startedAt: START }
}

/** The result of a journaled call. */
export function resultOf(id: string): JournalResult {
  const content = `result of ${id}`
  return {
    message: { role: 'tool', toolCallId: id, toolName: 'write', content },
    endedAt: START + 7,
  }
}

/** What the agents of a session know of the file `/a`. */
export function ledger(version: string): FileVersionsSnapshot {
  return { known: { agent: { '/a': { version } } }, writers: {} }
}

/** A run of one session, as an executor drives it; time advances by one with every write. */
export interface ScriptedRun {
  readonly sessionId: string
  readonly runId: string
  /** The fence of a write. */
  readonly write: () => RunWrite
  append(...texts: readonly string[]): Promise<void>
  /** One whole step with the message `content`; resolves to the id of its checkpoint. */
  step(content: string, extra?: Partial<StepCommit>): Promise<string>
  end(status?: RunEnd['status'], extra?: Partial<RunEnd>): Promise<SessionState>
}

export interface RunScript {
  readonly sessionId?: string
  readonly runId?: string
  readonly now?: number
}

/** Begins a run of a session that exists. */
export async function beginRun(
  store: SessionStateStore,
  script: RunScript = {},
): Promise<ScriptedRun> {
  const { sessionId = 'session', runId = 'run-1', now = START } = script
  await store.beginRun({ sessionId, runId, now, leaseMs: LEASE_MS })
  let time = now
  const write = (): RunWrite => ({ sessionId, runId, now: ++time })
  let steps = 0
  return {
    sessionId,
    runId,
    write,
    append: (...texts) => store.appendMessages({ ...write(), messages: texts.map(userMessage) }),
    step: async (content, extra = {}) => {
      const fence = write()
      const checkpointId = `cpv1-${sessionId}-s${++steps}-t${fence.now}-${runId}`
      await store.beginStep({ ...fence, messages: [], journal: [] })
      await store.commitStep({ ...fence, messages: [userMessage(content)], checkpointId, ...extra })
      return checkpointId
    },
    end: (status = 'completed', extra = {}) => store.endRun({ ...write(), status, ...extra }),
  }
}

/** Creates a session and begins its first run. */
export async function createAndBegin(
  store: SessionStateStore,
  script: RunScript = {},
): Promise<ScriptedRun> {
  await store.createSession(newSession({ sessionId: script.sessionId ?? 'session' }))
  return beginRun(store, script)
}

/** The head of a session that must be there. */
export async function headOf(
  store: SessionStateStore,
  sessionId = 'session',
): Promise<SessionState> {
  const head = await store.loadSession(sessionId)
  check(head !== null, `session ${sessionId} to be stored`)
  return head
}

/** The texts of all messages of a session. */
export async function contentsOf(
  store: SessionStateStore,
  sessionId = 'session',
): Promise<readonly unknown[]> {
  return contents(await store.loadMessages(sessionId))
}

export function contents(page: MessagePage): readonly unknown[] {
  return page.messages.map((message) => message.content)
}
