import type { WorkspaceDescription } from '@helix-agents/core/runtime'
import { beforeEach, describe, expect, it } from 'vitest'
import { TestHost } from '../../test-host.ts'

const URL_OF_S1 = 'http://localhost:8787/healthz/s-1'
const OPEN: WorkspaceDescription = {
  name: 'box',
  providerId: 'local-bash',
  state: 'open',
  stateSince: 900_000,
  capabilities: { fs: true },
  evictions: 2,
  retries: 0,
  lastSuccessAt: 940_000,
  lastAttemptAt: 940_000,
}
const FAILED: WorkspaceDescription = {
  name: 'disk',
  providerId: 'remote',
  state: 'failed',
  stateSince: 100_000,
  capabilities: {},
  evictions: 0,
  retries: 3,
  lastErrorCode: 'provider-failed',
}

let host: TestHost
let requests: { readonly url: string; readonly init: RequestInit }[]
beforeEach(() => {
  host = new TestHost()
  requests = []
})

function answer(respond: () => Response | Promise<Response>): void {
  host.fetch = async (url, init) => {
    requests.push({ url: new Request(url).url, init: init ?? {} })
    return respond()
  }
}

function describeAs(...workspaces: unknown[]): void {
  answer(() => Response.json({ workspaces }))
}

describe('helix healthz', () => {
  it('prints workspaces, and ends with 0 when nothing signals', async () => {
    describeAs(OPEN)
    const { code, out } = await host.run(['healthz', URL_OF_S1])
    expect(out.split('\n')).toEqual([
      'NAME  PROVIDER    STATE  LAST SUCCESS  EVICTIONS  LAST ERROR',
      'box   local-bash  open         1m ago          2  -',
      'no signals',
      '',
    ])
    expect(code).toBe(0)
  })
  it('prints signals, and ends with 1', async () => {
    describeAs(OPEN, FAILED)
    const { code, out } = await host.run(['healthz', URL_OF_S1])
    expect(out.split('\n').slice(2)).toEqual([
      'disk  remote      failed         never          0  provider-failed',
      'signal: disk is failed for 15m (provider-failed)',
      '',
    ])
    expect(code).toBe(1)
  })
  it('gives both as JSON', async () => {
    describeAs(FAILED)
    const answered = await host.json(['healthz', URL_OF_S1])
    expect(answered).toMatchObject({
      sessionId: 's-1',
      healthy: false,
      signals: [{ kind: 'failed', sessionId: 's-1', workspace: 'disk', forMs: 900_000 }],
      workspaces: [FAILED],
    })
  })
  it('reckons by the clock of the server', async () => {
    const date = new Date(200_000).toUTCString()
    answer(() => Response.json({ workspaces: [FAILED] }, { headers: { date } }))
    expect((await host.run(['healthz', URL_OF_S1])).code).toBe(0)
  })
  it('reads an answer of 503 and fields it does not know', async () => {
    answer(() => Response.json({ workspaces: [{ ...FAILED, news: 1 }], more: 1 }, { status: 503 }))
    expect((await host.run(['healthz', URL_OF_S1])).code).toBe(1)
  })
  it('appends the session', async () => {
    describeAs()
    await host.run(['healthz', 'http://localhost/healthz/?a=b', '--session', '../x y'])
    expect(requests.map(({ url }) => url)).toEqual(['http://localhost/healthz/..%2Fx%20y?a=b'])
  })
  it('sends the token of a variable and never shows it', async () => {
    host.env.TOKEN = 'a-secret-token'
    answer(() => new Response('a-secret-token', { status: 401 }))
    const { code, out, err } = await host.run(['healthz', URL_OF_S1, '--token-env', 'TOKEN'])
    expect(new Headers(requests[0]?.init.headers).get('authorization')).toBe(
      'Bearer a-secret-token',
    )
    expect([code, out, err.includes('secret')]).toEqual([3, '', false])
  })
  it('does not follow redirects, which could lead a token astray', async () => {
    answer(() => new Response(null, { status: 302, headers: { location: 'http://other' } }))
    expect((await host.run(['healthz', URL_OF_S1])).code).toBe(3)
    expect(requests[0]?.init.redirect).toBe('manual')
  })
  it.each([
    ['no active run', () => Response.json({ error: 'no active session' }, { status: 404 })],
    ['an error of the server', () => new Response('', { status: 500 })],
    ['a page', () => new Response('<html>')],
    ['another JSON', () => Response.json({ status: 'ok' })],
    ['a damaged entry', () => Response.json({ workspaces: [{ ...OPEN, state: 'odd' }] })],
    ['an endless answer', () => new Response('x'.repeat(5 * 1024 * 1024))],
    ['no answer', async () => Promise.reject(new TypeError('fetch failed'))],
    ['a timeout', async () => Promise.reject(new DOMException('late', 'TimeoutError'))],
  ] as const)('ends with 3 for %s', async (_, respond) => {
    answer(respond)
    const { code, out, err } = await host.run(['healthz', URL_OF_S1, '--json'])
    expect([code, out, err.startsWith('helix: http://localhost:8787')]).toEqual([3, '', true])
  })
  it.each([
    ['no address', []],
    ['a path', ['/healthz/s-1']],
    ['another protocol', ['file:///etc/passwd']],
    ['a password', ['http://user:pass@localhost/healthz/s-1']],
    ['a variable that is not set', [URL_OF_S1, '--token-env', 'NOBODY']],
    ['a watch without a number', [URL_OF_S1, '--watch', 'x']],
    ['two addresses', [URL_OF_S1, URL_OF_S1]],
  ])('ends with 2 for %s', async (_, args) => {
    describeAs(OPEN)
    expect(await host.run(['healthz', ...args])).toMatchObject({ code: 2, out: '' })
    expect(requests).toEqual([])
  })
  it('refuses a token that cannot be one without telling it', async () => {
    host.env.TOKEN = 'a secret\nof two lines'
    const { code, err } = await host.run(['healthz', URL_OF_S1, '--token-env', 'TOKEN'])
    expect([code, err.includes('secret')]).toEqual([2, false])
  })
})

describe('helix healthz --watch', () => {
  it('looks again and again, through trouble, until nobody reads', async () => {
    const looks = [
      () => Response.json({ workspaces: [OPEN] }),
      () => new Response('', { status: 404 }),
      () => Response.json({ workspaces: [FAILED] }),
    ]
    answer(() => looks[requests.length - 1]?.() ?? new Response('', { status: 500 }))
    host.isOutputClosed = () => requests.length > 3
    const watched = host.run(['healthz', URL_OF_S1, '--watch', '5', '--json'])
    for (let i = 0; i < 3; i += 1) {
      await expect.poll(() => host.clock.pendingTimers).toBe(1)
      await host.clock.advance(5000)
    }
    const { code, out } = await watched
    const lines = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>)
    expect(lines.map(({ at, healthy }) => [at, healthy])).toEqual([
      [1_000_000, true],
      [1_005_000, undefined],
      [1_010_000, false],
    ])
    expect(code).toBe(3)
  })
})
