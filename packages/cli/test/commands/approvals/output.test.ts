// All that is printed of approvals, to the letter: for people at terminals, and for programs.
import type { SessionRequest } from '@helix-agents/core/runtime'
import { expect, it } from 'vitest'
import { printedBy, section } from '../../printed.ts'
import { TestHost } from '../../test-host.ts'

const NOW = 1_000_000
const ASKED = NOW - 60_000

const BASE: SessionRequest = {
  requestId: 'request-plain',
  sessionId: 'a-session',
  askingSessionId: 'a-session',
  agentPath: ['an-agent'],
  kind: 'approval',
  toolCallId: 'call-1',
  toolName: 'workspace__repo__run',
  arguments: '{"command":"git push"}',
  preview: { title: 'git push' },
  createdAt: ASKED,
}
const REQUESTS: readonly SessionRequest[] = [
  BASE,
  {
    ...BASE,
    requestId: 'request-of-a-sub-agent',
    agentPath: ['an-agent', 'another-agent'],
    toolCallId: 'call-2',
    expiresAt: NOW + 3_600_000,
    preview: {
      title: 'edit a file whose name is rather long',
      body: '@@ -1 +1 @@\n-old\n+new\n same',
      format: 'diff',
      truncated: true,
    },
  },
  {
    ...BASE,
    requestId: 'request-expired',
    toolCallId: 'call-3',
    expiresAt: NOW,
    preview: { title: 'text', body: '+ no diff', format: 'text' },
  },
  { ...BASE, requestId: 'request-answered', toolCallId: 'call-4' },
  { ...BASE, requestId: 'request-denied', toolCallId: 'call-5' },
  { ...BASE, requestId: 'request-of-a-question', kind: 'question', toolCallId: 'call-6' },
]

async function createHost(): Promise<TestHost> {
  const host = new TestHost()
  const { stateStore } = host
  const write = { sessionId: 'a-session', runId: 'r', now: ASKED }
  await stateStore.createSession({ ...write, agentType: 'an-agent', customState: undefined })
  await stateStore.beginRun({ ...write, leaseMs: 1000 })
  await stateStore.addRequests({ ...write, requests: REQUESTS })
  await stateStore.endRun({ ...write, status: 'interrupted' })
  await stateStore.resolveRequest('a-session', 'request-answered', {
    decision: 'approve',
    editedArguments: '{"command":"git push --dry-run"}',
    by: 'ada',
    reason: 'only as a trial',
    at: NOW - 30_000,
  })
  await stateStore.resolveRequest('a-session', 'request-denied', {
    decision: 'deny',
    at: NOW - 20_000,
  })
  const getRequest = stateStore.getRequest.bind(stateStore)
  stateStore.getRequest = async (...call) => {
    const found = await getRequest(...call)
    const isOfSubAgent = found?.requestId === 'request-of-a-sub-agent'
    return isOfSubAgent ? { ...found, askingSessionId: 'the-session-of-the-sub-agent' } : found
  }
  return host
}

it.each([
  ['list', ['list']],
  ['list-all', ['list', '--all', '--session', 'a-session']],
  ['list-limited', ['list', '--limit', '1']],
  ['show-plain', ['show', 'a-session', 'request-plain']],
  ['show-diff', ['show', 'a-session', 'request-of-a-sub-agent']],
  ['show-expired', ['show', 'a-session', 'request-expired']],
  ['show-answered', ['show', 'a-session', 'request-answered']],
  ['show-denied', ['show', 'a-session', 'request-denied']],
])('%s', async (name, args) => {
  const printed = await printedBy(await createHost(), ['approvals', ...args])
  await expect(printed).toMatchFileSnapshot(`printed/${name}.txt`)
})

const REASON = ['--reason', 'because', '--by', 'ada']

it.each([
  ['approve', ['approve', 'a-session', 'request-plain', ...REASON]],
  ['approve-remembered', ['approve', 'a-session', 'request-plain', '--remember']],
  ['approve-edited', ['approve', 'a-session', 'request-plain', '--input', '-']],
  ['approve-again', ['approve', 'a-session', 'request-answered']],
  ['approve-expired', ['approve', 'a-session', 'request-expired']],
  ['approve-question', ['approve', 'a-session', 'request-of-a-question']],
  ['deny', ['deny', 'a-session', 'request-plain', ...REASON]],
  ['deny-again', ['deny', 'a-session', 'request-denied']],
  ['deny-question', ['deny', 'a-session', 'request-of-a-question']],
])('%s', async (name, args) => {
  const printed = []
  for (const [title, given] of [
    ['for a person', args],
    ['for a program', [...args, '--json']],
  ] as const) {
    const host = await createHost()
    host.input = '{"command":"git push --dry-run"}'
    const ran = await host.run(['approvals', ...given], { isTTY: true, columns: 100 })
    const [, , session = '', request = ''] = ['', ...given]
    const stored = await host.stateStore.getRequest(session, request)
    printed.push(section(title, ran), `stored: ${JSON.stringify(stored?.resolution)}\n`)
  }
  await expect(printed.join('\n')).toMatchFileSnapshot(`printed/${name}.txt`)
})
