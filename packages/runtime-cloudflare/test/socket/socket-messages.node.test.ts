// What a client says over its WebSocket, what that does, and what it is answered.
import { askUserTool, defineAgent, type StepResult } from '@helix-agents/core'
import type { Connection } from 'partyserver'
import { expect, test } from 'vitest'
import type { Caller } from '../../src/route/caller.ts'
import { receive } from '../../src/socket/socket-messages.ts'
import { objectWith, question, say } from '../http/node-host.ts'

const agent = defineAgent({ name: 'a', llmConfig: { model: {} }, tools: [askUserTool()] })

interface Given {
  readonly caller?: Caller
  readonly options?: object
  readonly state?: object
}

/** A session, and a socket of a client of it. */
function connected(
  steps: readonly StepResult[],
  { caller = {}, options = {}, state = {} }: Given = {},
) {
  const object = objectWith(steps, { agent, options })
  let readies = 0
  Object.assign(object.host, {
    ready: async () => void (readies += 1),
    ctx: { getWebSockets: () => [1] },
  })
  const sent: unknown[] = []
  const closed: unknown[] = []
  const socket = {
    readyState: 1,
    state: { caller, hasEnded: true, agent: 'a', ...state } as object,
    setState: (next: object) => void (socket.state = next),
    send: (text: string) => void sent.push(JSON.parse(text)),
    close: (...given: unknown[]) => void closed.push(given),
  }
  const tell = (data: unknown) =>
    receive(
      object.host as never,
      socket as unknown as Connection,
      typeof data === 'object' ? JSON.stringify(data) : data,
    )
  const start = async () => {
    await object.send('POST', '/start', { message: 'Go' })
    await object.settled()
  }
  return { ...object, socket, sent, closed, tell, start, readies: () => readies }
}

const refused = (code: string, more: object = {}) => ({
  type: 'refused',
  error: expect.objectContaining({ code }),
  ...more,
})

test('a message is a turn; its answer has the id that it was sent with', async () => {
  const { tell, start, sent, settled, stateStore, readies, closed } = connected([
    say('one'),
    say('two'),
    say('three'),
  ])
  await start()
  expect(await tell({ type: 'message', message: 'more', id: 'm' })).toBe(false)
  const runId = (await stateStore.loadSession('s'))?.runId
  expect(sent).toEqual([{ type: 'accepted', sessionId: 's', runId, id: 'm' }])
  expect(await settled()).toMatchObject({ output: 'two' })
  await tell({ type: 'message', message: 'more' })
  expect(sent[1]).not.toHaveProperty('id')
  expect([readies(), closed]).toEqual([2, []])
})

test('for a session that waits it is queued when it says how', async () => {
  const { tell, start, sent } = connected([question('one')])
  await start()
  await tell({ type: 'message', message: 'psst', delivery: 'followUp', messageId: 'x', id: 'm' })
  expect(sent).toEqual([{ type: 'accepted', sessionId: 's', messageId: 'x', id: 'm' }])
})

test('a question is answered, by whom the application says', async () => {
  const { tell, start, sent, settled, executor, stateStore } = connected(
    [question('one'), say('done')],
    { caller: { userId: 'ada' } },
  )
  await start()
  const [request] = (await executor.listRequests({ sessionId: 's' })).items
  const { requestId } = request!
  await tell({ type: 'respond', requestId, answer: { output: 'red' }, id: 'r' })
  const runId = (await stateStore.loadSession('s'))?.runId
  expect(sent).toEqual([{ type: 'accepted', sessionId: 's', runId, id: 'r' }])
  expect(await settled()).toMatchObject({ status: 'completed' })
  const { resolution } = (await stateStore.getRequest('s', requestId))!
  expect(resolution).toMatchObject({ by: 'ada', output: 'red' })
  await tell({ type: 'respond', requestId, answer: { output: 'blue' } })
  expect(sent[1]).toEqual(refused('already-decided'))
})

test('a session is resumed, interrupted and aborted', async () => {
  const { tell, start, sent, settled } = connected([question('one'), say('done')])
  await start()
  await tell({ type: 'interrupt', id: 'i' })
  await tell({ type: 'resume', id: 'r' })
  await settled()
  await tell({ type: 'resume', message: 'go on', id: 'n' })
  await tell({ type: 'abort', id: 'a' })
  expect(sent).toMatchObject([
    refused('not-running', { id: 'i' }),
    { type: 'accepted', id: 'r' },
    refused('waiting', { id: 'n' }),
    { type: 'accepted', sessionId: 's', id: 'a' },
  ])
  await tell({ type: 'resume' })
  expect(sent[4]).toEqual(refused('not-resumable'))
})

test.each<readonly [unknown, string]>([
  [7, 'invalid-json'],
  ['no json', 'invalid-json'],
  [{ type: 'message' }, 'invalid-request'],
  [{ type: 'message', message: '' }, 'invalid-request'],
  [{ type: 'nothing' }, 'invalid-request'],
  [{ type: 'resume', message: '' }, 'invalid-request'],
  [{ type: 'abort', id: 'x'.repeat(101) }, 'invalid-request'],
  [{ type: 'abort', more: 1 }, 'invalid-request'],
  [{ type: 'respond', requestId: '', answer: { output: 1 } }, 'invalid-request'],
  [{ type: 'respond', requestId: 'x'.repeat(201), answer: { output: 1 } }, 'invalid-request'],
])('%o is refused: %s', async (data, code) => {
  const { tell, sent, readies } = connected([])
  await tell(data)
  expect([sent, readies()]).toEqual([[refused(code)], 0])
})

test('a message is as large as a body may be', async () => {
  const text = JSON.stringify({ type: 'abort' })
  const exact = connected([], { options: { maxBodyBytes: text.length } })
  await exact.tell(text)
  expect(exact.sent).toEqual([refused('not-found')])
  const less = connected([], { options: { maxBodyBytes: text.length - 1 } })
  await less.tell(text)
  expect(less.sent).toEqual([refused('too-large')])
})

test('who may only read, or asks for another agent, is refused', async () => {
  const reader = connected([say('one')], { caller: { isReadOnly: true } })
  await reader.tell({ type: 'abort', id: 'x' })
  expect(reader.sent).toEqual([refused('read-only', { id: 'x' })])
  const other = connected([say('one')], { state: { agent: 'b' } })
  await other.start()
  await other.tell({ type: 'abort' })
  expect(other.sent).toEqual([refused('not-found')])
  const past = connected([say('one'), say('two')], { state: { agent: undefined } })
  await past.start()
  await past.tell({ type: 'message', message: 'more' })
  expect(past.sent).toMatchObject([{ type: 'accepted' }])
})

test('commands have so many places, which are given back whatever comes of them', async () => {
  const { tell, sent, host } = connected([], { options: { maxUnreadBodies: 1 } })
  for (let time = 0; time < 3; time++) await tell({ type: 'abort' })
  expect(sent).toEqual([refused('not-found'), refused('not-found'), refused('not-found')])
  const leave = host.places.commands.take({})
  await tell({ type: 'abort' })
  expect(sent[3]).toEqual(refused('too-many-requests'))
  leave()
})

test('what fails inside is told to the operator, with what was said', async () => {
  const { tell, sent, stateStore, logger } = connected([])
  const err = new Error('secret')
  stateStore.loadSession = () => Promise.reject(err)
  await tell({ type: 'abort' })
  expect(sent).toEqual([refused('internal')])
  expect(logger.lines).toEqual([
    { level: 'error', message: 'request failed', fields: { message: 'abort', err } },
  ])
})

test('who has read so far says so, and is not answered', async () => {
  const { tell, sent, socket, readies } = connected([], { state: { unanswered: ['q'] } })
  expect(await tell({ type: 'ack', id: 'q' })).toBe(true)
  expect(await tell({ type: 'ack', id: 'q' })).toBe(false)
  expect(socket.state).toMatchObject({ unanswered: [] })
  expect([sent, readies()]).toEqual([[], 0])
})

test('who does not read is not answered any more, and is let go', async () => {
  const { tell, sent, closed, readies } = connected([], { state: { unanswered: ['1', '2'] } })
  expect(await tell({ type: 'abort' })).toBe(false)
  expect([sent, readies(), closed]).toEqual([[], 0, [[1008, 'answers are not read']]])
  await tell('no json')
  expect([sent, closed.length]).toEqual([[], 2])
})

test('who has left meanwhile is not answered', async () => {
  const { tell, sent, socket, host } = connected([])
  Object.assign(host, { ready: async () => void (socket.readyState = 3) })
  await tell({ type: 'abort' })
  expect(sent).toEqual([])
})
