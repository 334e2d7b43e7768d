import type { RunWrite, SessionRequest } from '@helix-agents/core/runtime'
import { SqlStateStore } from '@helix-agents/store-sql'
import { openMigrated } from '../conformance.ts'
import { WatchedDatabase } from '../watched-database.ts'

export const NOW = 1_700_000_000_000

export const refOf = (id: string) => ({
  providerId: 'p',
  schemaVersion: 1,
  capabilities: { fs: true },
  ref: { id },
})

export const requestOf = (requestId: string, toolCallId: string): SessionRequest => ({
  requestId,
  sessionId: 's',
  askingSessionId: 's',
  agentPath: ['a'],
  kind: 'approval',
  toolCallId,
  toolName: 't',
  arguments: '{}',
  preview: { title: 't' },
  subject: 'it',
  createdAt: NOW,
  expiresAt: NOW + 1000,
})

const usage = { inputTokens: 1, outputTokens: 2, totalTokens: 3, modelCalls: 1, durationMs: 5 }
const entryOf = (toolCallId: string) => ({
  toolCallId,
  toolName: 't',
  arguments: {},
  startedAt: NOW,
})
const resultOf = (toolCallId: string) => ({
  message: { role: 'tool', toolCallId, toolName: 't', content: 'done' } as const,
  endedAt: NOW,
})

export async function openStore() {
  const database = new WatchedDatabase(await openMigrated())
  return { database, store: new SqlStateStore(database) }
}

/** A session `s` that has something in each table and column, and the run that holds it. */
export async function fill(store: SqlStateStore): Promise<RunWrite> {
  const write = { sessionId: 's', runId: 'r2', now: NOW }
  await store.createSession({
    sessionId: 's',
    agentType: 'a',
    customState: { n: 0 },
    userId: 'u',
    tags: ['t'],
    messages: [{ role: 'user', content: 'one' }],
    workspaceRefs: { box: refOf('1') },
    now: NOW,
  })
  await store.beginRun({ ...write, runId: 'r1', leaseMs: 10 })
  const first = { ...write, runId: 'r1' }
  await store.beginStep({ ...first, messages: [], journal: [entryOf('c0')] })
  await store.commitStep({
    ...first,
    messages: [{ role: 'assistant', content: 'two' }],
    checkpointId: 'cp',
    customState: { value: { n: 1 } },
    fileLedgers: { box: { known: { a: { '/f': { version: '1' } } }, writers: {} } },
    usage,
    workspaceSnapshots: {
      box: { snapshot: { providerId: 'p', ref: 1 } },
      lab: { missing: 'failed' },
    },
  })
  const error = { code: 'c', message: 'm' }
  await store.endRun({ ...first, status: 'failed', error, output: 1, owed: ['box'] })
  await store.beginRun({ ...write, leaseMs: 1000, now: NOW + 20, keepWorkspaces: false })
  await store.saveWorkspaceRef({ ...write, workspace: 'box', ref: refOf('2'), releasesOld: true })
  await store.beginStep({ ...write, messages: [], journal: [entryOf('c1'), entryOf('c2')] })
  await store.completeToolCall({ ...write, toolCallId: 'c1', result: resultOf('c1') })
  const requests = [requestOf('q1', 'c2'), requestOf('q2', 'c3')]
  await store.addRequests({ ...write, requests })
  await store.resolveRequest('s', 'q2', { decision: 'approve', at: NOW })
  await store.queueMessage({
    messageId: 'm',
    sessionId: 's',
    delivery: 'steer',
    message: { role: 'user', content: 'three' },
    createdAt: NOW,
  })
  await store.requestStop('s', 'interrupt')
  return write
}
