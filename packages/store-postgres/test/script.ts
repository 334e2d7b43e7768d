import type { RunWrite, SessionStateStore, StepCommit } from '@helix-agents/core/runtime'

export const NOW = 1_700_000_000_000

/** A session with a run that holds it, by default for an hour. */
export async function begun(
  store: SessionStateStore,
  sessionId: string,
  leaseMs = 3_600_000,
): Promise<RunWrite> {
  await store.createSession({ sessionId, agentType: 'agent', customState: { n: 0 }, now: NOW })
  await store.beginRun({ sessionId, runId: 'r', leaseMs, now: NOW })
  return { sessionId, runId: 'r', now: NOW + 1 }
}

export function step(write: RunWrite, content: string): StepCommit {
  return { ...write, messages: [{ role: 'user', content }], checkpointId: `after ${content}` }
}

export async function textsOf(store: SessionStateStore, sessionId: string): Promise<unknown[]> {
  const { messages } = await store.loadMessages(sessionId)
  return messages.map((message) => message.content)
}
