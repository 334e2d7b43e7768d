import type { Message } from '@helix-agents/core'
import type { SequencedChunk, SessionRequest } from '@helix-agents/core/runtime'
import {
  hasRequestAnswers,
  requestOf,
  toRequestAnswers,
  toUIMessages,
  toUIMessageStream,
} from '@helix-agents/ai-sdk'
import type { ChatTransport, UIMessage } from 'ai'
import { describe, expect, test } from 'vitest'
import { Chat } from './chat.ts'
import { chunksOf, messageOf, run } from './chunks.ts'

const preview = { title: 'write /a.txt', body: '+a', format: 'diff' } as const
const call = { toolCallId: 'a', toolName: 'write' }
const ask = {
  type: 'approval_request',
  requestId: 'r1',
  ...call,
  kind: 'approval',
  arguments: { path: '/a.txt' },
  preview,
  agentPath: ['writer'],
} as const
const resolved = { type: 'approval_resolved', requestId: 'r1', toolCallId: 'a' } as const
const start = { type: 'tool_start', ...call, arguments: { path: '/a.txt' } } as const
const end = { type: 'tool_end', ...call, success: true, result: 1 } as const
const text = { type: 'text_delta', delta: 'I write.' } as const
const output = { type: 'output', output: 'Done.' } as const
const denied = { code: 'denied', message: 'the user has said no' }
const next = { agentId: 'run-2' }

const stored: SessionRequest = {
  requestId: 'r1',
  sessionId: 's',
  askingSessionId: 's',
  agentPath: ['writer'],
  kind: 'approval',
  ...call,
  arguments: '{"path":"/a.txt"}',
  preview: { ...preview, basis: { digest: 'secret' } },
  createdAt: 1,
}
const messages: readonly Message[] = [
  { role: 'user', content: 'Write.' },
  {
    role: 'assistant',
    content: 'I write.',
    toolCalls: [{ id: 'a', name: 'write', arguments: { path: '/a.txt' } }],
  },
]

/** Without fields that are there and undefined. */
const asSent = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

function toolPart(message: UIMessage | undefined) {
  return message?.parts.find((part) => part.type === 'dynamic-tool')
}

test('a call that waits is an approval, alike from the stream and from the store', async () => {
  const { message, errors } = await messageOf(run(text, ask))
  expect(errors).toEqual([])
  const part = toolPart(message)
  expect(part).toMatchObject({
    state: 'approval-requested',
    input: { path: '/a.txt' },
    approval: { id: 'r1', requestReason: 'write /a.txt' },
  })
  expect(part && requestOf(part)).toEqual({
    requestId: 'r1',
    kind: 'approval',
    preview,
    agentPath: ['writer'],
  })
  expect((await chunksOf(run(text, ask))).at(-1)).toEqual({
    type: 'finish',
    finishReason: 'tool-calls',
  })
  const [, shown] = toUIMessages(messages, { requests: [stored] })
  expect(shown?.parts.at(-1)).toEqual(asSent(part))
  expect(JSON.stringify(toUIMessages(messages, { requests: [stored] }))).not.toContain('secret')
})

const continued = (...chunks: Parameters<typeof run>) =>
  run(text, ask, ...chunks.map((chunk) => ({ ...chunk, ...next })))

describe('a run that continues the message after', () => {
  const [, waiting] = toUIMessages(messages, { requests: [stored] })
  /** What `useChat` has when the answer was sent and the stream was read. */
  async function answered(
    chunks: AsyncIterable<SequencedChunk>,
    reply: { readonly approved: boolean; readonly reason?: string },
  ): Promise<{ readonly chat: Chat; readonly sent: readonly unknown[] }> {
    const sent: unknown[] = []
    const transport: ChatTransport<UIMessage> = {
      sendMessages: async ({ messages: of }) => {
        sent.push(...toRequestAnswers(of.at(-1)))
        const continues = { message: waiting as UIMessage, runId: 'run-2' }
        return toUIMessageStream(chunks, { continues })
      },
      reconnectToStream: async () => null,
    }
    const shown = [{ ...(waiting as UIMessage), id: 'its own' }]
    const chat = new Chat({ messages: shown, transport, sendAutomaticallyWhen: hasRequestAnswers })
    await chat.addToolApprovalResponse({ id: 'r1', ...reply })
    await expect.poll(() => [chat.status, sent.length]).toEqual(['ready', 1])
    expect(chat.error).toBeUndefined()
    expect(chat.messages.map(({ id }) => id)).toEqual(['its own'])
    return { chat, sent }
  }

  test('an approval', async () => {
    const chunks = continued({ ...resolved, decision: 'approve' }, start, end, output)
    const { chat, sent } = await answered(chunks, { approved: true })
    expect(sent).toEqual([{ requestId: 'r1', answer: { decision: 'approve' } }])
    expect(chat.calls).toMatchObject([
      { state: 'output-available', output: 1, approval: { id: 'r1', approved: true } },
    ])
    expect(chat.lastMessage?.parts.map(({ type }) => type)).toEqual([
      'step-start',
      'text',
      'dynamic-tool',
    ])
  })

  test('an approval with edited arguments', async () => {
    const edited = { ...start, arguments: { path: '/b.txt' } }
    const chunks = continued({ ...resolved, decision: 'approve' }, edited, end, output)
    const { chat } = await answered(chunks, { approved: true })
    expect(chat.calls).toMatchObject([{ state: 'output-available', input: { path: '/b.txt' } }])
  })

  test('a denial, and what the model says to it', async () => {
    const chunks = continued(
      { ...resolved, decision: 'deny', reason: 'not that', by: 'ada' },
      { type: 'tool_end', ...call, success: false, error: denied },
      { type: 'text_delta', delta: 'Then not.' },
      output,
    )
    const { chat, sent } = await answered(chunks, { approved: false, reason: 'not that' })
    expect(sent).toEqual([{ requestId: 'r1', answer: { decision: 'deny', reason: 'not that' } }])
    expect(chat.calls).toMatchObject([
      { state: 'output-denied', approval: { approved: false, reason: 'not that' } },
    ])
    expect(chat.lastMessage?.parts.at(-1)).toMatchObject({ text: 'Then not.' })
  })

  test('an answer, when the files have changed since: it asks again', async () => {
    const again = { ...ask, requestId: 'r2', preview: { title: 'the file has changed' } }
    const chunks = continued(again, { ...resolved, decision: 'cancelled' })
    const { chat } = await answered(chunks, { approved: true })
    expect(chat.calls).toMatchObject([
      {
        state: 'approval-requested',
        approval: { id: 'r2', requestReason: 'the file has changed' },
      },
    ])
  })
})

test('one that expired is denied, and says so', async () => {
  const { message } = await messageOf(
    run(
      ask,
      { ...resolved, decision: 'expired' },
      { ...end, success: false, error: denied },
      output,
    ),
  )
  expect(toolPart(message)).toMatchObject({
    state: 'output-denied',
    approval: { approved: false, reason: 'expired' },
  })
})

test.each(['question', 'client-tool'] as const)(
  'the output of a %s comes from the chat',
  async (kind) => {
    const asked = await messageOf(run({ ...ask, kind }))
    const part = toolPart(asked.message)
    expect(part).toMatchObject({ state: 'input-available', toolMetadata: { request: { kind } } })
    const [, shown] = toUIMessages(messages, { requests: [{ ...stored, kind }] })
    expect(shown?.parts.at(-1)).toEqual(asSent(part))
    const given = {
      ...asked.message,
      parts: [{ ...part, state: 'output-available', output: 'blue' }],
    }
    expect(toRequestAnswers(given as UIMessage)).toEqual([
      { requestId: 'r1', answer: { decision: 'output', output: 'blue' } },
    ])
    const failed = { ...given, parts: [{ ...part, state: 'output-error', errorText: 'no camera' }] }
    expect(toRequestAnswers(failed as UIMessage)).toEqual([
      { requestId: 'r1', answer: { decision: 'deny', reason: 'no camera' } },
    ])
    // What the server has acted on is not sent again.
    const done = await messageOf(
      run(
        { ...ask, kind },
        { ...resolved, decision: 'output' },
        { ...end, result: 'blue' },
        output,
      ),
    )
    expect(toolPart(done.message)).toMatchObject({ state: 'output-available', output: 'blue' })
    expect(hasRequestAnswers({ messages: [done.message as UIMessage] })).toBe(false)
  },
)

test('what a sub-agent asks is a part of its own', async () => {
  const sub = { agentId: 'sub', agentType: 'helper' }
  const ofSub = { ...ask, requestId: 'r9', agentPath: ['writer', 'helper'], ...sub }
  const subStart = { type: 'tool_start', toolCallId: 'a', toolName: 'subagent__helper' } as const
  const beginning = [
    { ...subStart, arguments: {} },
    { type: 'subagent_start', toolCallId: 'a', subAgentType: 'helper', subSessionId: 's/a' },
    ofSub,
  ] as const
  const { message, errors } = await messageOf(run(...beginning))
  expect(errors).toEqual([])
  expect(message?.parts).toMatchObject([
    { type: 'step-start' },
    { toolCallId: 'a', toolName: 'subagent__helper', state: 'input-available' },
    { toolCallId: 'r9', toolName: 'write', state: 'approval-requested' },
  ])
  const whole = await messageOf(
    run(
      ...beginning,
      { type: 'approval_resolved', requestId: 'r9', toolCallId: 'a', decision: 'approve', ...sub },
      { type: 'tool_end', ...call, success: true, result: 'written', ...sub },
      { type: 'tool_end', toolCallId: 'a', toolName: 'subagent__helper', success: true, result: 2 },
      output,
    ),
  )
  expect(whole.errors).toEqual([])
  expect(whole.message?.parts).toMatchObject([
    { type: 'step-start' },
    { toolCallId: 'a', output: 2 },
    { toolCallId: 'r9', output: 'written' },
    { type: 'step-start' },
    { text: 'Done.' },
  ])
  const request = { ...stored, requestId: 'r9', agentPath: ['writer', 'helper'] }
  const [, shown] = toUIMessages(messages, { requests: [request] })
  expect(shown?.parts.slice(2)).toMatchObject([
    { toolCallId: 'a', state: 'input-available' },
    { toolCallId: 'r9', state: 'approval-requested' },
  ])
})

test('from the store: answers that were given, and results of the step that waits', () => {
  const at = 2
  const shownWith = (resolution: SessionRequest['resolution']) =>
    toolPart(
      toUIMessages(messages, { requests: [{ ...stored, ...(resolution && { resolution }) }] })[1],
    )
  const approved = shownWith({ decision: 'approve', editedArguments: '{"path":"/c"}', at })
  expect(approved).toMatchObject({
    state: 'approval-responded',
    input: { path: '/c' },
    approval: { approved: true },
  })
  expect(shownWith({ decision: 'expired', at })).toMatchObject({
    approval: { approved: false, reason: 'expired' },
  })
  // The server has them.
  expect(
    toRequestAnswers({ id: '', role: 'assistant', parts: approved ? [approved] : [] }),
  ).toEqual([])
  const message = { role: 'tool', toolCallId: 'a', toolName: 'write', content: 'ok' } as const
  const deniedCall = [
    ...messages,
    { ...message, content: 'Error [denied]', isError: true } as const,
  ]
  const request = { ...stored, resolution: { decision: 'deny', reason: 'no', at } } as const
  expect(toolPart(toUIMessages(deniedCall, { requests: [request] })[1])).toMatchObject({
    state: 'output-denied',
    approval: { id: 'r1', approved: false, reason: 'no' },
  })
  // Another step may use the id again.
  const other = { ...request, arguments: '{"path":"/b.txt"}' }
  expect(toolPart(toUIMessages(deniedCall, { requests: [other] })[1])).toMatchObject({
    state: 'output-error',
  })
  const entry = { ...call, arguments: {}, startedAt: 1, result: { message, endedAt: 2 } }
  const [, recorded] = toUIMessages(messages, { requests: [stored], journal: [entry] })
  expect(toolPart(recorded)).toMatchObject({ state: 'output-available', output: 'ok' })
})
