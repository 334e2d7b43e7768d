// What happens to one session of a soak, from its first message until it is forgotten.
import { digestEntries, sha256, type SnapshotEntry } from '@helix-agents/core/provider'
import type { RunWrite, SequencedChunk, SessionRequest } from '@helix-agents/core/runtime'
import type { PostgresStores } from '@helix-agents/store-postgres'

const STEPS = 4
const CHUNKS_OF_STEP = 25
const TEXT = 'The quick brown fox jumps over the lazy dog, "twice".\n'.repeat(17)
const AGENT = 'clerk'

/** One machine runs the sessions, another one reads their streams. */
export interface Machines {
  readonly writer: PostgresStores
  readonly reader: PostgresStores
}

/** @returns how many chunks the other machine has read */
export async function liveSession(
  { writer, reader }: Machines,
  sessionId: string,
  now: number,
): Promise<number> {
  const { stateStore, streamManager } = writer
  const write = { sessionId, runId: 'run', now }
  await stateStore.createSession({ sessionId, agentType: AGENT, customState: 0, tags: ['t'], now })
  await stateStore.beginRun({ ...write, leaseMs: 3_600_000 })
  const stream = await streamManager.startRun(sessionId, 'run', AGENT)
  const reading = countChunks(reader.streamManager.read(sessionId))
  const base = { agentId: 'run', agentType: AGENT, timestamp: now }
  for (let at = 0; at < STEPS; at++) {
    const deltas = Array.from({ length: CHUNKS_OF_STEP }, (_, n) => `${at} ${n} a few words, `)
    const written = deltas.map((delta) => stream.write({ ...base, type: 'text_delta', delta }))
    await step(writer, write, at)
    await Promise.all(written)
  }
  await storeSnapshot(writer, sessionId, now)
  await stateStore.queueMessage({
    sessionId,
    messageId: 'm',
    delivery: 'followUp',
    message: { role: 'user', content: TEXT },
    createdAt: now,
  })
  await stateStore.removeQueuedMessage(sessionId, 'm')
  await stateStore.endRun({ ...write, status: 'completed', output: TEXT })
  await streamManager.endRun(sessionId, 'run')
  return reading
}

/** As a retention does. */
export async function forgetSession({ writer }: Machines, sessionId: string): Promise<void> {
  await writer.stateStore.deleteSession(sessionId)
  await writer.streamManager.deleteStream(sessionId)
  await writer.snapshotStore.deleteManifest(sessionId, snapshotId(sessionId))
  await writer.snapshotStore.sweep(sessionId)
}

/** A step with a call, for which a person is asked, and a changed state. */
async function step({ stateStore }: PostgresStores, write: RunWrite, at: number): Promise<void> {
  const { sessionId, now } = write
  const toolCallId = `call ${at}`
  const call = { toolName: 'write', arguments: { content: TEXT } } as const
  const toolCalls = [{ id: toolCallId, name: call.toolName, arguments: call.arguments }]
  const answer = { role: 'assistant', content: TEXT, toolCalls } as const
  const entry = { toolCallId, ...call, startedAt: now }
  await stateStore.beginStep({ ...write, messages: [answer], journal: [entry] })
  const request = requestOf(sessionId, toolCallId, now)
  await stateStore.addRequests({ ...write, requests: [request] })
  const resolution = { decision: 'approve', by: 'soak', at: now } as const
  await stateStore.resolveRequest(sessionId, request.requestId, resolution)
  await stateStore.renewRun({ ...write, leaseMs: 3_600_000 })
  const { toolName } = call
  const message = { role: 'tool', toolCallId, toolName, content: TEXT } as const
  await stateStore.completeToolCall({ ...write, toolCallId, result: { message, endedAt: now } })
  const checkpointId = `after ${at}`
  const customState = { value: { at, text: TEXT } }
  await stateStore.commitStep({ ...write, messages: [message], checkpointId, customState })
}

function requestOf(sessionId: string, toolCallId: string, createdAt: number): SessionRequest {
  return {
    requestId: `${sessionId} ${toolCallId}`,
    sessionId,
    askingSessionId: sessionId,
    agentPath: [AGENT],
    kind: 'approval',
    toolCallId,
    toolName: 'write',
    arguments: '{}',
    preview: { title: 'write', body: TEXT, format: 'text' },
    createdAt,
  }
}

function snapshotId(sessionId: string): string {
  return `snapshot-of-${sessionId}`
}

async function storeSnapshot(
  { snapshotStore }: PostgresStores,
  sessionId: string,
  createdAt: number,
): Promise<void> {
  const bytes = new TextEncoder().encode(`${sessionId} ${TEXT}`)
  const hash = await sha256(bytes)
  const entries: readonly SnapshotEntry[] = [
    { path: '/a', type: 'file', size: bytes.length, blocks: [hash] },
  ]
  const header = {
    formatVersion: 1,
    snapshotId: snapshotId(sessionId),
    createdAt,
    sessionId,
    agentType: AGENT,
    workspace: 'box',
    providerId: 'soak',
    workspaceId: 'box',
    entries: entries.length,
    bytes: bytes.length,
    digest: await digestEntries(entries),
  } as const
  await snapshotStore.putBlocks(sessionId, [{ hash, bytes }])
  await snapshotStore.putManifest(sessionId, { header, entries })
}

async function countChunks(
  opening: Promise<AsyncIterable<SequencedChunk> | null>,
): Promise<number> {
  let count = 0
  for await (const chunk of (await opening) ?? []) count += chunk.type === 'text_delta' ? 1 : 0
  return count
}

/** What a reader gets of one session. */
export const CHUNKS_OF_SESSION = STEPS * CHUNKS_OF_STEP
