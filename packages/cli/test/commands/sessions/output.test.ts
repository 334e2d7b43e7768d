// All that is printed of sessions, to the letter: for people at terminals, and for programs.
import type { Message } from '@helix-agents/core'
import type { JournalEntry } from '@helix-agents/core/runtime'
import { expect, it } from 'vitest'
import { printedBy } from '../../printed.ts'
import { TestHost } from '../../test-host.ts'
import { addSession, REF } from './sample-sessions.ts'

const MESSAGES: readonly Message[] = [
  {
    role: 'user',
    content: 'Write a poem',
    files: [{ data: new Uint8Array(7), mediaType: 'image/png' }],
  },
  { role: 'assistant', content: '', toolCalls: [{ id: 'c', name: 'run', arguments: { a: 1 } }] },
  { role: 'tool', toolCallId: 'c', toolName: 'run', isError: true, content: 'it broke' },
  {
    role: 'tool',
    toolCallId: 'd',
    toolName: 'look',
    content: [
      { type: 'text', text: 'a picture' },
      { type: 'media', mediaType: 'image/png', data: new Uint8Array(3) },
    ],
  },
  { role: 'assistant', content: 'x'.repeat(201) },
  { role: 'user', content: `${'y'.repeat(199)}\u{1F600}` },
]

const result = (toolName: string, isError: boolean): JournalEntry => ({
  toolCallId: `call-${toolName}`,
  toolName,
  arguments: { path: '/a' },
  startedAt: 2500,
  result: {
    endedAt: 3000,
    message: { role: 'tool', toolCallId: 'c', toolName, content: 'x', isError },
  },
})
const JOURNAL: readonly JournalEntry[] = [
  result('write_file', false),
  result('remove_file', true),
  { toolCallId: 'call-run', toolName: 'run', arguments: {}, startedAt: 2500 },
]

const REFS = {
  cache: {
    ...REF,
    providerId: 'in-memory',
    schemaVersion: 12,
    capabilities: { fs: true, shell: false },
  },
}

async function createHost(): Promise<TestHost> {
  const host = new TestHost()
  const store = host.stateStore
  await addSession(store, { sessionId: 'idle-session' })
  await addSession(store, {
    sessionId: 'interrupted-session',
    agentType: 'an-agent-with-a-long-name',
    status: 'interrupted',
    messages: MESSAGES,
    journal: JOURNAL,
    workspaces: ['repository'],
    refs: REFS,
    end: { error: { code: 'shutdown', message: 'the process ends' } },
  })
  await addSession(store, {
    sessionId: 'failed-session',
    status: 'failed',
    workspaces: ['repository', 'another'],
    end: { error: { code: 'model-failed', message: 'no answer' }, owed: ['repository', 'another'] },
  })
  await addSession(store, { sessionId: 'lost-session', status: 'running', journal: JOURNAL })
  await addSession(store, {
    sessionId: 'held-session',
    status: 'running',
    journal: JOURNAL,
    leaseUntil: 2_000_000,
  })
  const leaseUntil = host.clock.now()
  await addSession(store, { sessionId: 'ended-session', status: 'running', leaseUntil })
  await addSession(store, { sessionId: 'aborted-session', status: 'aborted' })
  await addSession(store, { sessionId: 'completed-session', status: 'completed' })
  return host
}

it.each([
  ['list', ['list']],
  ['list-owed', ['list', '--owed']],
  ['show-idle', ['show', 'idle-session']],
  ['show-interrupted', ['show', 'interrupted-session', '--messages', '--checkpoints', '--refs']],
  ['show-without-secrets', ['show', 'interrupted-session', '--messages', '1', '--checkpoints']],
  ['show-failed', ['show', 'failed-session']],
  ['show-lost', ['show', 'lost-session']],
  ['show-held', ['show', 'held-session']],
  ['show-lease-ended', ['show', 'ended-session']],
  ['show-aborted', ['show', 'aborted-session']],
  ['show-completed', ['show', 'completed-session']],
])('%s', async (name, args) => {
  const printed = await printedBy(await createHost(), ['sessions', ...args])
  await expect(printed).toMatchFileSnapshot(`printed/${name}.txt`)
})
