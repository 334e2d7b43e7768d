// What each request gets in each state of a session: the table of the docs.
import { defineTool } from '@helix-agents/core'
import { describe, expect, test } from 'vitest'
import { createGate, say, type Script, use, waitTool } from '../scripts.ts'
import { createSession, type TestSession } from '../session.ts'

type Status = 'idle' | 'running' | 'waiting' | 'interrupted' | 'completed' | 'failed' | 'aborted'

/** A session in a state; the model answers once more after that. */
async function createIn(status: Status): Promise<TestSession> {
  const gate = createGate()
  let calls = 0
  const brain: Script['brain'] = (messages) => {
    calls++
    if (calls === 1) return use('note')
    if (calls > 2) return say(`answer to ${messages.length}`)
    if (status === 'failed') throw new Error('the model is broken')
    if (status === 'waiting') return use('ask')
    return status === 'completed' ? say('done') : use('wait')
  }
  const session = createSession({ brain, tools: [waitTool(gate), noteTool, askTool] })
  await session.post('/start', { message: 'go' })
  if (status === 'idle') return branchOf(session, gate.open)
  if (!['completed', 'failed', 'waiting'].includes(status)) await gate.begun
  if (status === 'running') return session
  if (status === 'aborted') await session.post('/abort')
  if (status === 'interrupted') await session.post('/interrupt')
  gate.open()
  await session.ended()
  return session
}

/** So that each of them has a checkpoint. */
const noteTool = defineTool({
  name: 'note',
  description: 'Does nothing.',
  inputSchema: { type: 'object' },
  execute: () => 'noted',
})

const askTool = defineTool({
  name: 'ask',
  description: 'Asks first.',
  inputSchema: { type: 'object' },
  needsApproval: true,
  execute: () => 'done',
})

async function branchOf(session: TestSession, open: () => void): Promise<TestSession> {
  open()
  await session.ended()
  const branch = createSession({ brain: (messages) => say(`answer to ${messages.length}`) })
  const answer = await session.post('/branch', { sessionId: branch.id })
  expect(answer).toMatchObject({ status: 201, body: { sessionId: branch.id } })
  return branch
}

const ok = [202, undefined] as const
const exists = [409, 'session-exists'] as const
const running = [409, 'already-running'] as const
const waiting = [409, 'waiting'] as const
const notRunning = [409, 'not-running'] as const
const notResumable = [409, 'not-resumable'] as const
const message = { message: 'more' }

type Cell = readonly [status: number, code: string | undefined]
type Row = readonly [request: string, body: unknown, cells: Readonly<Record<Status, Cell>>]

const table: readonly Row[] = [
  [
    'start',
    message,
    {
      idle: ok,
      running: exists,
      waiting: exists,
      interrupted: exists,
      completed: exists,
      failed: exists,
      aborted: exists,
    },
  ],
  [
    'message',
    message,
    { idle: ok, running, waiting, interrupted: ok, completed: ok, failed: ok, aborted: ok },
  ],
  [
    'resume',
    {},
    {
      idle: ok,
      running,
      waiting: ok,
      interrupted: ok,
      completed: notResumable,
      failed: ok,
      aborted: notResumable,
    },
  ],
  [
    'resume',
    message,
    {
      idle: ok,
      running,
      waiting,
      interrupted: ok,
      completed: ok,
      failed: ok,
      aborted: notResumable,
    },
  ],
  [
    'interrupt',
    {},
    {
      idle: notRunning,
      running: ok,
      waiting: notRunning,
      interrupted: notRunning,
      completed: notRunning,
      failed: notRunning,
      aborted: notRunning,
    },
  ],
  [
    'abort',
    {},
    {
      idle: notRunning,
      running: ok,
      waiting: ok,
      interrupted: ok,
      completed: notRunning,
      failed: ok,
      aborted: notRunning,
    },
  ],
]

const statuses = [
  'idle',
  'running',
  'waiting',
  'interrupted',
  'completed',
  'failed',
  'aborted',
] as const

const cells = statuses.flatMap((status) =>
  table.map(([request, body, row]) => ({ status, request, body, cell: row[status] })),
)

test.each(cells)('one that is $status answers $request $body', async (given) => {
  const { status, request, body, cell } = given
  const session = await createIn(status)
  const before = (await session.get('/state')).body
  const answer = await session.post(`/${request}`, body)
  expect([before.status, answer.status, answer.body.error?.code]).toEqual([status, ...cell])
  // A refusal has changed nothing: not even the workspaces that are kept.
  const after = cell[0] === 202 ? before : (await session.get('/state')).body
  expect(after).toEqual(before)
})

describe.each(statuses)('a session that is %s', (status) => {
  test('is branched', async () => {
    const session = await createIn(status)
    expect((await session.post('/branch')).status).toBe(201)
    expect((await session.get('/state')).body.status).toBe(status)
  })

  test('is deleted', async () => {
    const session = await createIn(status)
    const { status: answer } = await session.fetch('', { method: 'DELETE' })
    expect(answer).toBe(204)
    expect((await session.get('/state')).status).toBe(404)
  })
})

test.each([
  ['idle', 404],
  ['running', 409],
  ['waiting', 202],
  ['interrupted', 202],
  ['completed', 202],
  ['failed', 202],
  ['aborted', 202],
] as const)('one that is %s answers restore with %i', async (status, expected) => {
  const session = await createIn(status)
  // What never ran has none.
  const { items } = (await session.get('/checkpoints')).body
  const answer = await session.post('/restore', { checkpointId: items.at(0)?.id ?? 'none' })
  expect(answer.status).toBe(expected)
})
