import type { UserMessage } from '@helix-agents/core'
import type { RunWrite, SessionStateStore, StepCommit } from '@helix-agents/core/runtime'
import {
  openSqliteStores,
  type SqliteStores,
  type SqliteStoresOptions,
} from '@helix-agents/store-sqlite'
import { onTestFinished } from 'vitest'

export const NOW = 1_700_000_000_000

/** Stores that are closed after the test. */
export async function opened(path: string, options?: SqliteStoresOptions): Promise<SqliteStores> {
  const stores = await openSqliteStores(path, options)
  onTestFinished(() => stores.close())
  return stores
}

export function user(content: string): UserMessage {
  return { role: 'user', content }
}

/** A session with a run that holds it for an hour. */
export async function begun(store: SessionStateStore, sessionId: string): Promise<RunWrite> {
  await store.createSession({ sessionId, agentType: 'agent', customState: { n: 0 }, now: NOW })
  await store.beginRun({ sessionId, runId: 'r', leaseMs: 3_600_000, now: NOW })
  return { sessionId, runId: 'r', now: NOW + 1 }
}

/** One step with one message. */
export async function step(
  store: SessionStateStore,
  write: RunWrite,
  content: string,
  extra: Partial<StepCommit> = {},
): Promise<void> {
  await store.beginStep({ ...write, messages: [], journal: [] })
  const messages = [user(content)]
  await store.commitStep({
    ...write,
    messages,
    checkpointId: `after ${content}`.slice(0, 40),
    ...extra,
  })
}

export async function textsOf(store: SessionStateStore, sessionId: string): Promise<unknown[]> {
  const { messages } = await store.loadMessages(sessionId)
  return messages.map((message) => message.content)
}
