// Ten thousand sessions that wait for a person, in one SQLite file.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { RunWrite, SessionRequest, SessionStateStore } from '@helix-agents/core/runtime'
import { openSqliteStores } from '@helix-agents/store-sqlite'
import { measure } from '../../harness/measure.ts'
import { report, type Verdict } from '../../harness/report.ts'
import { answer, call, toolResult } from '../../harness/session-messages.ts'

const WAITING = 10_000
const MOST_LIST_MS = 5
const MOST_STEPS = 5

export async function run(): Promise<Verdict[]> {
  const directory = mkdtempSync(join(tmpdir(), 'helix-bench-requests-'))
  try {
    return await measureIn(join(directory, 'waiting.db'))
  } finally {
    rmSync(directory, { recursive: true })
  }
}

async function measureIn(path: string): Promise<Verdict[]> {
  const { stateStore, close } = await openSqliteStores(path)
  for (let index = 0; index < WAITING; index += 1) await wait(stateStore, `s-${index}`)
  const write = await begin(stateStore, 'steps')
  const now = Date.now()
  const queries = { now, state: 'open', limit: 50 } as const
  const last = { ...queries, cursor: (WAITING - 100).toString(36) }
  const [list, listLast, respond, committed] = await measure([
    { name: 'first page of open requests', run: times(() => stateStore.listRequests(queries)) },
    { name: 'a page near the end', run: times(() => stateStore.listRequests(last)) },
    { name: 'answer one, and ask again', run: answering(stateStore) },
    { name: 'committed step', run: times((index) => step(stateStore, write, index)) },
  ])
  await close()
  const goal = { name: 'goal', microseconds: MOST_LIST_MS * 1000 }
  return [
    report({
      title: `requests: first page of ${WAITING} waiting sessions`,
      ours: list!.name,
      limit: 'goal',
      measurements: [goal, list!, listLast!],
      gate: { most: 1 },
      unit: 'ms',
    }),
    report({
      title: 'requests: answering one, beside a committed step',
      ours: respond!.name,
      limit: committed!.name,
      measurements: [committed!, respond!],
      gate: { most: MOST_STEPS },
    }),
  ]
}

function times(work: (index: number) => Promise<unknown>): (count: number) => Promise<void> {
  let done = 0
  return async (count) => {
    for (let index = 0; index < count; index += 1) await work(done++)
  }
}

/**
 * An answer is given once, so each is preceded by the request that it answers: both are counted. The
 * ten thousand others stay open.
 */
function answering(store: SessionStateStore): (count: number) => Promise<void> {
  let session: Promise<RunWrite> | undefined
  return times(async (index) => {
    const write = await (session ??= begin(store, 'answers'))
    const request = requestFor(write.sessionId, `call-${index}`)
    await store.addRequests({ ...write, requests: [request] })
    const resolution = { decision: 'approve', by: 'bench', at: write.now } as const
    await store.resolveRequest(write.sessionId, request.requestId, resolution)
  })
}

async function begin(store: SessionStateStore, sessionId: string): Promise<RunWrite> {
  const now = Date.now()
  await store.createSession({ sessionId, agentType: 'a', customState: { n: 0 }, now })
  await store.beginRun({ sessionId, runId: 'r', leaseMs: 3_600_000, now })
  return { sessionId, runId: 'r', now }
}

/** A session as an executor leaves it that waits. */
async function wait(store: SessionStateStore, sessionId: string): Promise<void> {
  const write = await begin(store, sessionId)
  const entry = { toolCallId: 'call', ...call, startedAt: write.now }
  await store.beginStep({ ...write, messages: [answer('call')], journal: [entry] })
  await store.addRequests({ ...write, requests: [requestFor(sessionId, 'call')] })
  await store.endRun({ ...write, status: 'waiting' })
}

function requestFor(sessionId: string, toolCallId: string): SessionRequest {
  const body = '@@ -1 +1 @@\n-old\n+new\n'.repeat(20)
  return {
    requestId: `${sessionId} ${toolCallId}`,
    sessionId,
    askingSessionId: sessionId,
    agentPath: ['a'],
    kind: 'approval',
    toolCallId,
    toolName: 'workspace__box__write_file',
    arguments: JSON.stringify({ path: '/a.txt', content: 'x'.repeat(500) }),
    preview: { title: 'write /a.txt', body, format: 'diff' },
    createdAt: 1,
  }
}

async function step(store: SessionStateStore, write: RunWrite, index: number): Promise<void> {
  const id = `call-${index}`
  const entry = { toolCallId: id, ...call, startedAt: write.now }
  await store.beginStep({ ...write, messages: [answer(id)], journal: [entry] })
  const checkpointId = `cpv1-${write.sessionId}-s${index}-t${write.now}-abcdef`
  await store.commitStep({ ...write, messages: [toolResult(id)], checkpointId })
}
