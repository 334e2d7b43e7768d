import type { RunStart, RunWrite, SessionStateStore } from '@helix-agents/core/runtime'
import fc from 'fast-check'
import { canonical } from './canonical.ts'
import * as values from './values.ts'

/** What the calls of one sequence share. */
export interface Names {
  /** The run that was begun last. */
  current: string
  /** Makes the next run id. */
  fresh: number
}

export type Call = (store: SessionStateStore, names: Names) => Promise<unknown>

/** Mostly the run that may write. */
const runId = fc.oneof(
  { weight: 9, arbitrary: fc.constant('current') },
  { weight: 1, arbitrary: fc.constantFrom('r1', 'r\ud800') },
)
const newRunId = fc.oneof(
  { weight: 6, arbitrary: fc.constant('fresh') },
  { weight: 1, arbitrary: fc.constantFrom('r1', 'r\ud800') },
)
const fence = fc.record({ sessionId: values.sessionId, runId, now: values.now })

/** A write of a run, with further arguments. */
export function writing<T>(
  weight: number,
  extra: fc.Arbitrary<T>,
  call: (store: SessionStateStore, write: RunWrite, extra: T) => Promise<unknown>,
): fc.WeightedArbitrary<Call> {
  const toCall =
    ([write, given]: [RunWrite, T]): Call =>
    (store, names) => {
      const id = write.runId === 'current' ? names.current : write.runId
      return call(store, { ...write, runId: id }, given)
    }
  return { weight, arbitrary: fc.tuple(fence, extra).map(toCall) }
}

export function calling<T>(
  weight: number,
  given: fc.Arbitrary<T>,
  call: (store: SessionStateStore, given: T) => Promise<unknown>,
): fc.WeightedArbitrary<Call> {
  const toCall =
    (one: T): Call =>
    (store) =>
      call(store, one)
  return { weight, arbitrary: given.map(toCall) }
}

function beginning(start: RunWrite & Pick<RunStart, 'hold'>): Call {
  return (store, names) => {
    const id = start.runId === 'fresh' ? `run ${names.fresh}` : start.runId
    names.current = id
    return store.beginRun({ ...start, runId: id, leaseMs: 20 })
  }
}

const starts = fc.record(
  { sessionId: values.sessionId, runId: newRunId, now: values.later, hold: fc.constant(true) },
  { requiredKeys: ['sessionId', 'runId', 'now'] },
)
const step = fc.record({ messages: values.messages, journal: values.journal })
const completion = fc.tuple(
  values.change,
  fc.record({ toolCallId: values.callId, result: values.result }),
)
const commit = fc.tuple(
  values.change,
  fc.record(
    {
      messages: values.messages,
      checkpointId: values.checkpointId,
      outcome: values.ending,
      workspaceSnapshots: values.snapshots,
      evictBefore: fc.dictionary(values.workspace, fc.integer({ min: 0, max: 8 })),
    },
    { requiredKeys: ['messages', 'checkpointId'] },
  ),
)
const place = fc.record(
  { workspace: values.workspace, ref: fc.option(values.ref), releasesOld: fc.boolean() },
  { requiredKeys: ['workspace', 'ref'] },
)
const restore = fc.tuple(values.sessionId, values.checkpointId, values.later)
const files = fc.dictionary(values.workspace, fc.option(values.ref))
const restoreHeld = fc.tuple(values.checkpointId, files)
const letGo = fc.oneof(
  fc.record({ workspace: values.workspace, ref: values.ref }),
  fc.record({ branchId: values.sessionId }),
)
const deletion = fc.tuple(values.sessionId, fc.boolean())
const page = fc.tuple(values.sessionId, values.page)
const slice = fc.tuple(values.sessionId, fc.record({ offset: values.count, limit: values.count }))

export const sessionCalls: readonly fc.WeightedArbitrary<Call>[] = [
  calling(3, values.newSession, (store, session) => store.createSession(session)),
  { weight: 4, arbitrary: starts.map(beginning) },
  writing(1, fc.constant({ leaseMs: 5 }), (store, write, more) =>
    store.renewRun({ ...write, ...more }),
  ),
  writing(2, values.ending, (store, write, end) => store.endRun({ ...write, ...end })),
  writing(2, fc.tuple(values.change, values.messages), (store, write, [change, messages]) =>
    store.appendMessages({ ...write, messages, ...change }),
  ),
  writing(5, step, (store, write, given) => store.beginStep({ ...write, ...given })),
  writing(5, completion, (store, write, [change, given]) =>
    store.completeToolCall({ ...write, ...change, ...given }),
  ),
  writing(6, commit, (store, write, [change, given]) =>
    store.commitStep({ ...write, ...change, ...given }),
  ),
  writing(3, place, (store, write, given) => store.saveWorkspaceRef({ ...write, ...given })),
  calling(3, restore, (store, [id, checkpoint, at]) => store.restoreCheckpoint(id, checkpoint, at)),
  writing(2, restoreHeld, (store, write, [checkpoint, given]) =>
    store.restoreCheckpoint(write.sessionId, checkpoint, write.now, {
      runId: write.runId,
      files: given,
    }),
  ),
  calling(1, fc.tuple(values.sessionId, letGo, values.now), async (store, given) => {
    await store.recordReleased(...given)
  }),
  calling(1, deletion, async (store, [id, wanted]) => wanted && store.deleteSession(id)),
  calling(1, page, (store, [id, query]) => store.listCheckpoints(id, query)),
  calling(1, slice, (store, [id, query]) => store.loadMessages(id, query)),
]

/** Without a session that runs, most calls would only find nothing. */
export const opening: readonly Call[] = [
  (store) => store.createSession({ sessionId: 'a', agentType: 'a1', customState: 0, now: 0 }),
  beginning({ sessionId: 'a', runId: 'fresh', now: 0 }),
]

/** Reads all of every session, page by page. */
export const readEverything: Call = async (store) => {
  const found: unknown[] = []
  let cursor: string | undefined
  do {
    const listed = await store.listSessions({ limit: 2, ...(cursor !== undefined && { cursor }) })
    cursor = listed.nextCursor
    for (const { sessionId } of listed.items) found.push(await readSession(store, sessionId))
  } while (cursor !== undefined)
  const ofAgent = await store.listSessions({ agentType: 'a1' })
  found.push(await store.listRequests({ now: 30, limit: 200 }))
  return [found, ofAgent.items.map((head) => head.sessionId)]
}

async function readSession(store: SessionStateStore, sessionId: string): Promise<unknown> {
  const checkpoints = await store.listCheckpoints(sessionId)
  const single = checkpoints.items.map(({ id }) => store.getCheckpoint(sessionId, id))
  return [
    await store.loadSession(sessionId),
    checkpoints,
    await Promise.all(single),
    await store.loadMessages(sessionId),
    await store.loadJournal(sessionId),
    await store.listRuns(sessionId),
    await store.loadRequests(sessionId),
    await store.listRequests({ sessionId, now: 30, state: 'open' }),
    await store.listQueuedMessages(sessionId),
    await store.loadSignals(sessionId),
    await readHistory(store, sessionId),
  ]
}

/** Ids are those of the store, and refs have no order. */
async function readHistory(store: SessionStateStore, sessionId: string): Promise<unknown> {
  const { snapshots, changed, refs, released } = await store.loadHistory(sessionId)
  await store.forgetReleased(
    sessionId,
    released.slice(1).map(({ id }) => id),
  )
  const left = (await store.loadHistory(sessionId)).released.length
  const steps = snapshots.map((one) => [one.stepCount, one.workspace, one.files, one.createdAt])
  return [
    sorted(steps),
    changed.toSorted(),
    sorted(refs),
    released.map((one) => ({ ...one, id: 0 })),
    left,
  ]
}

function sorted(all: readonly unknown[]): readonly string[] {
  return [...new Set(all.map((one) => canonical(one)))].toSorted()
}
