// The SQLite store against the same rows written by `node:sqlite` alone, on one disk.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { RunWrite, SessionStateStore } from '@helix-agents/core/runtime'
import { openSqliteStores } from '@helix-agents/store-sqlite'
import { describeTwenty } from '../../harness/describe.ts'
import { type Contender, measure } from '../../harness/measure.ts'
import { openRawStore } from '../../harness/raw/sqlite.ts'
import { report, type Verdict } from '../../harness/report.ts'
import { answer, call, toolResult } from '../../harness/session-messages.ts'

/** 5 000 committed steps a second. */
const MOST_STEP_MICROSECONDS = 200
const MOST_LOAD_MS = 100
const SHORT = 100
const LONG = 10_000

export async function run(): Promise<Verdict[]> {
  const directory = mkdtempSync(join(tmpdir(), 'helix-bench-store-'))
  try {
    return [...(await steps(directory)), ...(await loading(directory)), await describing()]
  } finally {
    rmSync(directory, { recursive: true })
  }
}

/** A step as the executor stores it: the answer and its journal, then the result and checkpoint. */
async function steps(directory: string): Promise<Verdict[]> {
  const stores = await openSqliteStores(join(directory, 'steps.db'))
  const write = await begin(stores.stateStore, 'steps')
  const raw = openRawStore(join(directory, 'raw.db'))
  const contenders: readonly Contender[] = [
    {
      name: 'store-sqlite',
      run: async (times) => {
        for (let i = 0; i < times; i++) await step(stores.stateStore, write)
      },
    },
    {
      name: 'node:sqlite, the same rows',
      run: (times) => {
        for (let i = 0; i < times; i++) raw.step()
      },
    },
  ]
  const measured = await measure(contenders)
  await stores.close()
  raw.close()
  const goal = { name: 'goal', microseconds: MOST_STEP_MICROSECONDS }
  const ours = 'store-sqlite'
  return [
    report({
      title: 'store: one committed step, two transactions',
      ours,
      limit: 'node:sqlite, the same rows',
      measurements: measured,
      gate: { most: 2 },
    }),
    report({
      title: 'store: 5,000 committed steps a second',
      ours,
      limit: 'goal',
      measurements: [goal, ...measured.filter((one) => one.name === ours)],
      gate: { most: 1 },
    }),
  ]
}

/** What a resume reads, after a session of a hundred messages and of ten thousand. */
async function loading(directory: string): Promise<Verdict[]> {
  const path = join(directory, 'loading.db')
  const writer = await openSqliteStores(path)
  for (const count of [SHORT, LONG]) await fill(writer.stateStore, count)
  await writer.close()
  const stores = await openSqliteStores(path)
  const load = (count: number): Contender => ({
    name: `${count} messages`,
    run: async (times) => {
      for (let i = 0; i < times; i++) await resume(stores.stateStore, count)
    },
  })
  const [short, long] = await measure([load(SHORT), load(LONG)])
  await stores.close()
  const each = [
    { name: 'a message of 100', microseconds: short!.microseconds / SHORT },
    { name: 'a message of 10,000', microseconds: long!.microseconds / LONG },
  ]
  const goal = { name: 'goal', microseconds: MOST_LOAD_MS * 1000 }
  return [
    report({
      title: `store: load a session of ${LONG} messages`,
      ours: long!.name,
      limit: 'goal',
      measurements: [goal, long!],
      gate: { most: 1 },
      unit: 'ms',
    }),
    report({
      title: 'store: resume, for each message',
      ours: 'a message of 10,000',
      limit: 'a message of 100',
      measurements: each,
      gate: { most: 1.5 },
    }),
  ]
}

async function describing(): Promise<Verdict> {
  const measurements = [
    { name: 'goal', microseconds: 50 },
    ...(await measure([await describeTwenty()])),
  ]
  return report({
    title: 'store: describe() of 20 open workspaces',
    ours: 'describe()',
    limit: 'goal',
    measurements,
    gate: { most: 1 },
  })
}

async function begin(store: SessionStateStore, sessionId: string): Promise<RunWrite> {
  const now = Date.now()
  await store.createSession({ sessionId, agentType: 'a', customState: { n: 0 }, now })
  await store.beginRun({ sessionId, runId: 'r', leaseMs: 3_600_000, now })
  return { sessionId, runId: 'r', now }
}

let counter = 0

async function step(store: SessionStateStore, write: RunWrite): Promise<void> {
  const id = `call-${counter++}`
  const now = Date.now()
  const fence = { ...write, now }
  const entry = { toolCallId: id, ...call, startedAt: now }
  await store.beginStep({ ...fence, messages: [answer(id)], journal: [entry] })
  const checkpointId = `cpv1-${write.sessionId}-s${counter}-t${now}-abcdef`
  await store.commitStep({ ...fence, messages: [toolResult(id)], checkpointId })
}

async function fill(store: SessionStateStore, count: number): Promise<void> {
  const write = await begin(store, `${count}`)
  for (let i = 0; i < count / 2; i++) await step(store, write)
}

async function resume(store: SessionStateStore, count: number): Promise<void> {
  const head = await store.loadSession(`${count}`)
  const { messages } = await store.loadMessages(`${count}`)
  const journal = await store.loadJournal(`${count}`)
  if (head === null || messages.length !== count || journal.length > 0) throw new Error('not whole')
}
