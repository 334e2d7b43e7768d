// A session whose files are kept, a provider, and what a run loads of both.
import { defineAgent } from '@helix-agents/core'
import type { SnapshotRef, WorkspaceRef } from '@helix-agents/core/provider'
import {
  type CheckpointSnapshot,
  RateLimitedLogger,
  type SessionHistory,
  type SessionState,
} from '@helix-agents/core/runtime'
import { createRecordingMetrics, ManualClock, RecordingLogger } from '@helix-agents/core/testing'
import { loadRunHistory } from '../../../src/history/run-history.ts'
import type { RunServices } from '../../../src/ports.ts'

export const NOW = 5000
export const err = new Error('no room')
const box = (history: unknown) =>
  ({ provider: { kind: 'box' }, capabilities: { fs: true }, history }) as never
export const declaredWith = (history: unknown = { on: 'step', keep: 2 }, plain?: unknown) =>
  defineAgent({
    name: 'a',
    llmConfig: { model: {} },
    workspaces: { files: box(history), plain: box(plain) },
  }).workspaces
export const refOf = (providerId = 'box', more: object = {}): WorkspaceRef => ({
  providerId,
  schemaVersion: 1,
  capabilities: { fs: true },
  ref: 'r',
  ...more,
})
export const snapshotOf = (ref: string, providerId = 'box'): SnapshotRef => ({ providerId, ref })
/** Files of a step that were not kept. */
export const MISSING: CheckpointSnapshot = { missing: 'failed' }
export const stored = (
  stepCount: number,
  files: CheckpointSnapshot,
  workspace = 'files',
  createdAt = 0,
) => ({
  workspace,
  stepCount,
  files,
  createdAt,
})
export const kept = (stepCount: number, createdAt = NOW) =>
  stored(stepCount, { snapshot: snapshotOf(`${stepCount}`) }, 'files', createdAt)

export interface Given {
  readonly history?: unknown
  readonly stored?: Partial<SessionHistory>
  readonly session?: Partial<SessionState>
  readonly isCutOff?: boolean
  readonly restore?: (snapshot: SnapshotRef, options: object) => Promise<WorkspaceRef>
}

export async function worldOf({
  history,
  stored: given = {},
  session = {},
  isCutOff = false,
  restore,
}: Given) {
  const [logger, clock] = [new RecordingLogger(), new ManualClock(NOW)]
  const metrics = createRecordingMetrics()
  const [removed, loads, recorded] = [[] as unknown[], [] as string[], [] as unknown[]]
  const none = { snapshots: [], changed: [], refs: [], released: [] }
  const stateStore = {
    loadHistory: async (id: string) => (loads.push(id), { ...none, ...given }),
    recordReleased: async (...one: unknown[]) => (recorded.push(one), 1),
  }
  const provider = {
    providerId: 'box',
    history: { remove: async ({ ref }: SnapshotRef) => void removed.push(ref), restore },
  }
  const services = {
    stateStore,
    providers: new Map([['box', provider]]),
    clock,
    logger,
    rateLimitedLogger: new RateLimitedLogger({ logger, clock }),
    metrics,
    tracer: undefined,
  } as unknown as RunServices
  const state = {
    sessionId: 's',
    agentType: 'a',
    stepCount: 4,
    workspaceRefs: { files: refOf() },
    ...session,
  } as SessionState
  const loaded = await loadRunHistory(services, state, {
    declared: declaredWith(history),
    isCutOff,
  })
  return { loaded, history: loaded!.history, logger, metrics, clock, removed, loads, recorded }
}
