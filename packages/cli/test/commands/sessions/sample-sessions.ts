import type { Message } from '@helix-agents/core'
import type { WorkspaceRef } from '@helix-agents/core/provider'
import type {
  JournalEntry,
  RunEnd,
  SessionStateStore,
  SessionStatus,
} from '@helix-agents/core/runtime'

export const SECRET = 'secret-of-the-provider'

export const REF: WorkspaceRef = {
  providerId: 'local-bash',
  schemaVersion: 1,
  capabilities: { fs: true, shell: true },
  ref: { token: SECRET },
}

/** What a sample session is like; times rise with each write. */
export interface Sample {
  readonly sessionId: string
  readonly agentType?: string
  readonly status?: Exclude<SessionStatus, 'idle'>
  readonly messages?: readonly Message[]
  readonly journal?: readonly JournalEntry[]
  readonly workspaces?: readonly string[]
  /** Refs of further workspaces. */
  readonly refs?: Readonly<Record<string, WorkspaceRef>>
  readonly end?: Pick<RunEnd, 'error' | 'owed'>
  /** Until when a run holds it. Default: a time that is long over. */
  readonly leaseUntil?: number
}

const JOURNAL: readonly JournalEntry[] = []

/** Makes a session of one run, by the calls that a runtime makes. */
export async function addSession(store: SessionStateStore, sample: Sample): Promise<void> {
  const { sessionId, status, agentType = 'tester', messages = [], journal = JOURNAL } = sample
  await store.createSession({ sessionId, agentType, customState: { note: SECRET }, now: 1000 })
  if (status === undefined) return
  const write = { sessionId, runId: `run-of-${sessionId}`, now: 2000 }
  await store.beginRun({ ...write, leaseMs: (sample.leaseUntil ?? 62_000) - write.now })
  await store.appendMessages({ ...write, messages })
  for (const [workspace, ref] of refsOf(sample)) {
    await store.saveWorkspaceRef({ ...write, workspace, ref })
  }
  await store.beginStep({ ...write, messages: [], journal: [] })
  await store.commitStep({ ...write, messages: [], checkpointId: `cp-${sessionId}` })
  if (journal.length > 0) await store.beginStep({ ...write, messages: [], journal })
  if (status === 'running') return
  await store.endRun({ ...write, now: 62_000, status, ...sample.end })
}

function refsOf({ refs = {}, workspaces = [] }: Sample): [string, WorkspaceRef][] {
  return [...workspaces.map((name): [string, WorkspaceRef] => [name, REF]), ...Object.entries(refs)]
}
