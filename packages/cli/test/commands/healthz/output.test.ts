// All that is printed of the health of a session, to the letter: for people, and for programs.
import { expect, it } from 'vitest'
import { printedBy } from '../../printed.ts'
import { TestHost } from '../../test-host.ts'

const NOW = Date.UTC(2026, 0, 1)
const DATE = 'Thu, 01 Jan 2026 00:00:00 GMT'

const PLAIN = {
  name: 'a-workspace',
  providerId: 'local-bash',
  state: 'open',
  stateSince: NOW - 60_000,
  capabilities: { fs: true },
  evictions: 0,
  retries: 0,
}
const WORKSPACES = [
  PLAIN,
  {
    ...PLAIN,
    name: 'a-workspace-that-failed',
    state: 'failed',
    stateSince: NOW - 3_600_000,
    lastError: 'no answer',
    lastErrorCode: 'provider-failed-in-a-long-way',
    lastSuccessAt: NOW - 7_200_000,
    evictions: 12,
    isolation: 'container',
    containment: 'namespace',
    maxProcesses: 5,
    lastAttemptAt: NOW - 1,
    unsuccessfulSince: NOW - 3_600_000,
    lastOpAt: NOW - 2,
    openedAt: NOW - 3,
    lastSnapshotAt: NOW - 4,
    snapshotFailedAt: NOW - 5,
    snapshotErrorCode: 'storage-full',
    refSchemaVersion: 2,
  },
  { ...PLAIN, name: 'evicted', state: 'evicted', stateSince: NOW - 3_600_000 },
  { ...PLAIN, name: 'declared', state: 'declared' },
]

const HEADERS = { date: DATE }
const answer = (workspaces: unknown, init: ResponseInit = {}): Response =>
  Response.json({ workspaces }, { headers: HEADERS, ...init })

it.each([
  ['healthy', () => answer([PLAIN])],
  ['none', () => answer([])],
  ['signals', () => answer(WORKSPACES)],
  ['unhealthy-status', () => answer(WORKSPACES, { status: 503, headers: HEADERS })],
  ['another-answer', () => Response.json({ works: [] })],
  ['no-run', () => Response.json({}, { status: 404 })],
  ['no-token', () => Response.json({}, { status: 401 })],
  ['wrong-token', () => Response.json({}, { status: 403 })],
  ['redirect', () => new Response(null, { status: 302 })],
  ['broken', () => new Response('x', { status: 500 })],
  [
    'explained',
    () => Response.json({ error: { code: 'c', message: 'm', details: { a: 1 } } }, { status: 500 }),
  ],
])('%s', async (name, respond) => {
  const host = new TestHost()
  const requests = new Set<string>()
  host.env = { SECRET: 'the-token' }
  host.fetch = async (input, init) => {
    const { headers, redirect, url } = new Request(input, init)
    const sent = ['accept', 'authorization'].map((header) => headers.get(header))
    requests.add(`${[url, ...sent, redirect].join(' ')}\n`)
    return respond()
  }
  const args = ['healthz', 'http://a.test/healthz/', '--session', 's 1', '--token-env', 'SECRET']
  const printed = await printedBy(host, args)
  const asked = `=== what was asked\n${[...requests].join('')}`
  await expect(`${printed}\n${asked}`).toMatchFileSnapshot(`printed/${name}.txt`)
})
