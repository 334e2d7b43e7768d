// The file store in workerd against raw SQL in the same object, and against @cloudflare/shell there.
import { type Contender, measure, type Measurement } from '../harness/measure.ts'
import { type Gate, report, type Verdict } from '../harness/report.ts'
import { type RunningWorker, startFileStoreWorker } from '../harness/start-worker.ts'

interface Row {
  readonly task: string
  readonly title: string
  readonly gate: Gate
  /** Operations of one request, and so of one event of the object: the least that is committed. */
  readonly batch: number
  /** Without a bucket the peer stores no file of 8 MiB. */
  readonly hasNoPeer?: boolean
  /** Against itself on other files, where raw SQL has nothing to compare. */
  readonly limitTask?: string
  /** Against a time that is promised. */
  readonly goalMs?: number
}

const rows: readonly Row[] = [
  {
    task: 'write text',
    title: 'write 4 KiB of text',
    gate: { most: 1.3, peerLeast: 1.7 },
    batch: 1000,
  },
  {
    task: 'write bytes',
    title: 'write 4 KiB of bytes',
    gate: { most: 1.3, peerLeast: 6 },
    batch: 1000,
  },
  {
    task: 'read',
    title: 'read 4 KiB of text',
    gate: { most: 1.1, peerLeast: 2 },
    batch: 2000,
  },
  {
    task: 'read bytes',
    title: 'read 4 KiB of bytes',
    gate: { most: 1.1, peerLeast: 2 },
    batch: 2000,
  },
  { task: 'stat', title: 'stat', gate: { most: 1.1, peerLeast: 3.5 }, batch: 2000 },
  { task: 'stat large', title: 'stat of 200 kB', gate: { most: 1.1, peerLeast: 3.5 }, batch: 2000 },
  {
    task: 'write 1 MiB',
    title: 'write 1 MiB of bytes',
    gate: { most: 1.1, peerLeast: 40 },
    batch: 30,
  },
  { task: 'read 1 MiB', title: 'read 1 MiB of bytes', gate: { most: 1.3 }, batch: 30 },
  {
    task: 'write 8 MiB',
    title: 'write 8 MiB of bytes',
    gate: { most: 1.1 },
    batch: 3,
    hasNoPeer: true,
  },
  {
    task: 'read 8 MiB',
    title: 'read 8 MiB of bytes',
    gate: { most: 1.3 },
    batch: 3,
    hasNoPeer: true,
  },
  {
    task: 'edit 1 MiB',
    title: 'edit one place in 1 MiB (limit: a raw write of it)',
    gate: { most: 1.3, peerLeast: 2 },
    batch: 30,
  },
  {
    task: 'ls',
    title: 'ls of 40 files among 10,000',
    gate: { most: 1.3, peerLeast: 2.2 },
    batch: 500,
  },
  {
    task: 'ls fat',
    title: 'ls of 200 files of 200 kB (limit: of 1 byte)',
    gate: { most: 1.2, peerLeast: 40 },
    batch: 100,
    limitTask: 'ls thin',
  },
  {
    task: 'glob tree',
    title: 'glob of 10,000 files',
    gate: { most: 1.3, peerLeast: 15 },
    batch: 20,
  },
  {
    task: 'glob fat',
    title: 'glob of 200 files of 200 kB (limit: of 1 byte)',
    gate: { most: 1.2, peerLeast: 15 },
    batch: 200,
    limitTask: 'glob thin',
  },
  {
    task: 'grep miss',
    title: 'grep of 10,000 files, no match',
    gate: { most: 1.3, peerLeast: 10 },
    batch: 2,
  },
  {
    task: 'snapshot',
    title: 'a snapshot of 11,000 files, one changed',
    gate: { most: 1 },
    batch: 1,
    hasNoPeer: true,
    goalMs: 200,
  },
  // The last: its files make all others fewer among many.
  {
    task: 'write new',
    title: '1,000 new files of 4 KiB in one event, each',
    gate: { most: 1.1, peerLeast: 6 },
    batch: 1000,
  },
]

const OURS = 'workspace-cloudflare-filestore'

export async function run(peers: boolean): Promise<Verdict[]> {
  const worker = await startFileStoreWorker(peers)
  try {
    const verdicts: Verdict[] = []
    for (const row of rows) verdicts.push(await measureRow(worker, row, peers))
    return verdicts
  } finally {
    await worker.stop()
  }
}

async function measureRow(worker: RunningWorker, row: Row, peers: boolean): Promise<Verdict> {
  const limit = limitOf(row)
  const contenders = [
    contender(worker, row, { name: OURS, subject: 'ours', task: row.task }),
    ...(row.goalMs === undefined
      ? [
          contender(worker, row, {
            name: limit,
            subject: row.limitTask === undefined ? 'raw' : 'ours',
            task: row.limitTask ?? row.task,
          }),
        ]
      : []),
    ...(peers && !row.hasNoPeer
      ? [contender(worker, row, { name: '@cloudflare/shell', subject: 'peer', task: row.task })]
      : []),
  ]
  const request = contender(worker, row, { name: 'request', subject: 'noop', task: '' })
  const measured = await measure([...contenders, request], {
    rounds: 9,
    sampleMs: 60,
    ...(worker.clock && { clock: worker.clock }),
  })
  const requestMicroseconds = measured.at(-1)?.microseconds ?? 0
  const measurements = measured.slice(0, -1).map(({ name, microseconds }): Measurement => ({
    name,
    microseconds: (microseconds - requestMicroseconds) / row.batch,
  }))
  if (row.goalMs !== undefined) measurements.push({ name: limit, microseconds: row.goalMs * 1000 })
  const title = `filestore: ${row.title}`
  return report({ title, ours: OURS, limit, measurements, gate: row.gate })
}

function limitOf({ goalMs, limitTask }: Row): string {
  if (goalMs !== undefined) return 'goal'
  return limitTask === undefined ? 'raw SQL' : `ours, ${limitTask}`
}

function contender(
  worker: RunningWorker,
  { batch }: Row,
  who: { readonly name: string; readonly subject: string; readonly task: string },
): Contender {
  const { name, subject, task } = who
  return {
    name,
    run: async (times) => {
      for (let i = 0; i < times; i++) {
        const { ok } = await worker.get({ subject, task, times: `${batch}` })
        if (!ok) throw new Error(`${name} cannot ${task}`)
      }
    },
  }
}
