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

it.each([
  [299, 'the server does not answer'],
  [300, 'the server redirects'],
  [399, 'the server redirects'],
  [400, 'the server does not answer'],
  [401, 'the token is missing or rejected (--token-env)'],
  [403, 'the token is missing or rejected (--token-env)'],
  [404, 'no run of this session is active'],
  [405, 'the server does not answer'],
])('the status %d is explained', async (status, said) => {
  const host = new TestHost()
  host.fetch = async () => new Response('<html>', { status })
  const { code, err } = await host.run(['healthz', 'http://a.test/s'])
  expect([code, err]).toEqual([3, `helix: http://a.test/s: ${said} (HTTP ${status})\n`])
})

it.each([
  [new Error('no'), 'no'],
  [new Error('no', { cause: new Error('deep') }), 'no: deep'],
  [new Error('no', { cause: new RangeError() }), 'no: RangeError'],
  [new DOMException('x', 'TimeoutError'), 'no answer within 3000 ms'],
  ['a text', 'a text'],
])('a network that fails with %s is explained', async (cause, said) => {
  const host = new TestHost()
  host.fetch = () => Promise.reject(cause)
  const { code, err } = await host.run(['healthz', 'http://a.test/s?key=x', '--timeout', '3s'])
  expect([code, err]).toEqual([3, `helix: http://a.test/s: ${said}\n`])
})

it('the answer of a server is let go where only its status counts', async () => {
  let isCancelled = false
  const body = new ReadableStream({ cancel: () => void (isCancelled = true) })
  const host = new TestHost()
  host.fetch = async () => new Response(body, { status: 404 })
  expect((await host.run(['healthz', 'http://a.test/s'])).code).toBe(3)
  expect(isCancelled).toBe(true)
})

it.each([
  ['http://a.test/healthz/s%201', 's 1'],
  ['http://a.test/healthz/s//', 's'],
  ['http://a.test/healthz/%zz', '%zz'],
  ['http://a.test', ''],
])('the session of %s is %j', async (address, sessionId) => {
  const host = new TestHost()
  host.fetch = async () => answer([])
  expect(await host.json(['healthz', address])).toMatchObject({ sessionId })
})

it('is told again and again, for a person', async () => {
  const host = new TestHost()
  let looks = 0
  host.fetch = async () => {
    looks += 1
    return looks === 1 ? answer([PLAIN]) : new Response(null, { status: 404 })
  }
  host.isOutputClosed = () => looks > 1
  const watched = host.run(['healthz', 'http://a.test/s', '--watch', '5'])
  for (let turn = 0; turn < 10; turn += 1) await new Promise(setImmediate)
  expect([looks, host.clock.pendingTimers]).toEqual([1, 1])
  await host.clock.advance(4999)
  expect(looks).toBe(1)
  await host.clock.advance(1)
  const { code, out, err } = await watched
  expect(code).toBe(3)
  expect(out).toMatch(/^\n1970-01-01T00:16:40Z\nNAME .*\na-workspace .*\nno signals\n$/s)
  expect(err).toBe('helix: no run of this session is active (HTTP 404)\n')
})
