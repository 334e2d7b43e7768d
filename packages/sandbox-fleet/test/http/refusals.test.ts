import { Hono } from 'hono'
import { describe, expect, test } from 'vitest'
import { setup, TOKEN } from './harness.ts'

async function codeOf(response: Response): Promise<readonly [number, string]> {
  const body = (await response.json()) as { error: { code: string } }
  return [response.status, body.error.code]
}

const GUARDED: readonly (readonly [method: string, path: string])[] = [
  ['GET', '/api/sandbox/stats'],
  ['GET', '/api/sandbox/list'],
  ['GET', '/api/sandbox/one'],
  ['GET', '/api/sandbox/one/logs'],
  ['GET', '/api/sandbox/one/resources'],
  ['DELETE', '/api/sandbox/one'],
  ['POST', '/api/sandbox/cleanup'],
  ['POST', '/api/sandbox/cleanup/emergency'],
  ['POST', '/api/sandbox/reconcile'],
  ['GET', '/metrics'],
  ['GET', '/openapi.json'],
  ['GET', '/api/sandbox/stats/'],
  ['GET', '/api//sandbox/list'],
  ['GET', '/%61pi/sandbox/list'],
  ['GET', '/api/sandbox%2flist'],
  ['GET', '/api/./sandbox/list'],
  ['GET', '/x/../api/sandbox/list'],
  ['GET', '/%6detrics'],
  ['PUT', '/api/sandbox/list'],
  ['OPTIONS', '/api/sandbox/one'],
]

describe.each(GUARDED)('%s %s', (method, path) => {
  test('without a token: 401', async () => {
    const { ask } = setup()
    const response = await ask(path, { method, token: null })
    expect(await codeOf(response)).toEqual([401, 'unauthorized'])
    expect(response.headers.get('WWW-Authenticate')).toMatch(/^Bearer/)
  })

  test.each([
    ['another', 'another-admin-token'],
    ['a prefix', TOKEN.slice(0, -1)],
    ['a longer one', `${TOKEN}x`],
    ['another case', TOKEN.toUpperCase()],
  ])('with %s token: 403', async (_, token) => {
    const { ask } = setup()
    expect(await codeOf(await ask(path, { method, token }))).toEqual([403, 'forbidden'])
  })

  test('from another site, even with the token: 403', async () => {
    const { ask } = setup()
    const origin = await ask(path, { method, headers: { Origin: 'https://evil.example' } })
    expect(await codeOf(origin)).toEqual([403, 'forbidden'])
    const site = await ask(path, { method, headers: { 'Sec-Fetch-Site': 'cross-site' } })
    expect(await codeOf(site)).toEqual([403, 'forbidden'])
  })
})

describe('tokens', () => {
  test.each(['Basic YTpi', 'Bearer', 'Bearer ', `Token ${TOKEN}`, `Bearer ${TOKEN} more`])(
    'the header %j holds none',
    async (header) => {
      const { ask } = setup()
      const init = { token: null, headers: { Authorization: header } }
      expect(await codeOf(await ask('/api/sandbox/stats', init))).toEqual([401, 'unauthorized'])
    },
  )

  test.each([[''], ['short'], [[]], [[TOKEN, '']]])(
    'an app whose tokens are %j opens for nobody',
    async (adminToken) => {
      const { ask } = setup({ adminToken })
      for (const token of [TOKEN, 'short']) {
        expect(await codeOf(await ask('/api/sandbox/stats', { token }))).toEqual([
          500,
          'config-invalid',
        ])
      }
    },
  )

  test('while one replaces the other, both open', async () => {
    const { ask } = setup({ adminToken: [TOKEN, 'the-next-admin-token'] })
    for (const token of [TOKEN, 'the-next-admin-token']) {
      expect((await ask('/api/sandbox/stats', { token })).status).toBe(200)
    }
  })

  test('none is asked for on a machine of your own, when that was said', async () => {
    const open = setup({ insecureAllowLocal: true })
    const local = 'http://localhost:8787/api/sandbox/stats'
    expect((await open.ask(local, { token: null })).status).toBe(200)
    const elsewhere = await open.ask('https://fleet.example/api/sandbox/stats', { token: null })
    expect(elsewhere.status).toBe(401)
    const rebound = { token: null, method: 'POST', headers: { Origin: 'http://evil.example' } }
    const answer = await open.ask('http://localhost:8787/api/sandbox/cleanup/emergency', rebound)
    expect(answer.status).toBe(403)
    expect((await setup().ask(local, { token: null })).status).toBe(401)
  })
})

describe('requests that do not fit', () => {
  test.each([
    '/api/sandbox/%2e%2e%2fetc',
    '/api/sandbox/a%00b',
    '/api/sandbox/-leading',
    `/api/sandbox/${'x'.repeat(200)}`,
    '/api/sandbox/%3Cscript%3E',
    '/api/sandbox/list?limit=0',
    '/api/sandbox/list?limit=1e9',
    '/api/sandbox/list?limit=abc',
    '/api/sandbox/list?status=gone',
    '/api/sandbox/list?unknown=1',
    '/api/sandbox/list?cursor=not%20one',
    '/api/sandbox/list?older_than_minutes=-1',
  ])('GET %s: 400', async (path) => {
    const { ask } = setup()
    expect(await codeOf(await ask(path))).toEqual([400, expect.stringMatching(/^invalid-/)])
  })

  test('a cleanup that may or may not be a dry run does nothing', async () => {
    const { ask } = setup()
    const response = await ask('/api/sandbox/cleanup?dry_run=yes', { method: 'POST' })
    expect(response.status).toBe(400)
    const misspelt = await ask('/api/sandbox/cleanup?dryrun=true', { method: 'POST' })
    expect(misspelt.status).toBe(400)
  })

  test('an unknown sandbox: 404; its provider is not asked', async () => {
    const { ask, driver } = setup()
    driver.sandboxes.set('unknown-to-us', 'running')
    for (const path of ['', '/logs', '/resources']) {
      const response = await ask(`/api/sandbox/unknown-to-us${path}`)
      expect(await codeOf(response)).toEqual([404, 'unknown-sandbox'])
    }
    const ended = await ask('/api/sandbox/unknown-to-us', { method: 'DELETE' })
    expect(ended.status).toBe(404)
    expect(driver.sandboxes.has('unknown-to-us')).toBe(true)
  })

  test.each([
    ['GET', '/api/sandbox/cleanup/emergency', 'POST'],
    ['PUT', '/api/sandbox/stats', 'GET'],
    ['POST', '/api/sandbox/one', 'GET, DELETE'],
    ['DELETE', '/metrics', 'GET'],
  ])('%s %s: 405', async (method, path, allow) => {
    const { ask } = setup()
    const response = await ask(path, { method })
    expect(await codeOf(response)).toEqual([405, 'method-not-allowed'])
    expect(response.headers.get('Allow')).toBe(allow)
  })

  test('an address that is not there: 404', async () => {
    const { ask } = setup()
    expect(await codeOf(await ask('/nothing'))).toEqual([404, 'not-found'])
  })

  test('what the ledger throws is not shown', async () => {
    const { ask, store } = setup()
    store.counts = () => Promise.reject(new Error('password=hunter2'))
    const response = await ask('/api/sandbox/stats')
    const text = await response.text()
    expect(response.status).toBe(500)
    expect(text).not.toContain('hunter2')
  })
})

describe('no way around the token', () => {
  test.each([
    '//api/sandbox/list',
    '/API/sandbox/list',
    '/api/sandbox/list;x',
    '/metrics/',
    '/openapi.json/',
    '/dashboard.js/../api/sandbox/list',
    '/api%2fsandbox%2flist',
    '/.%2fapi/sandbox/list',
    '/\\api/sandbox/list',
  ])('%s', async (path) => {
    const { addLeaked, ask } = setup()
    await addLeaked('secret-box')
    const response = await ask(path, { token: null })
    expect([401, 404]).toContain(response.status)
    expect(await response.text()).not.toContain('secret-box')
  })

  test('HEAD neither', async () => {
    const { ask } = setup()
    expect((await ask('/api/sandbox/list', { method: 'HEAD', token: null })).status).toBe(401)
  })

  test('no answer lets another site read it', async () => {
    const { ask } = setup()
    const init = { method: 'OPTIONS', headers: { Origin: 'https://evil.example' }, token: null }
    for (const path of ['/api/sandbox/list', '/', '/metrics']) {
      const { headers } = await ask(path, init)
      expect(headers.get('Access-Control-Allow-Origin')).toBeNull()
    }
  })

  test('a proxy that ends TLS is no other site', async () => {
    const { ask } = setup()
    const path = 'http://fleet.example/api/sandbox/cleanup'
    const headers = { Origin: 'https://fleet.example' }
    expect((await ask(path, { method: 'POST', headers })).status).toBe(200)
    const site = { Origin: 'https://fleet.example', 'Sec-Fetch-Site': 'same-origin' }
    const inside = 'http://10.0.0.7:8080/api/sandbox/cleanup'
    expect((await ask(inside, { method: 'POST', headers: site })).status).toBe(200)
    const opaque = { Origin: 'null' }
    expect((await ask(path, { method: 'POST', headers: opaque })).status).toBe(403)
  })
})

describe('ending one', () => {
  test.each(['%0Aforged%20line', '%1B%5B2J', '%20%20', 'x'.repeat(501)])(
    'the reason %s is rejected',
    async (reason) => {
      const { addLeaked, ask, driver } = setup()
      await addLeaked('one')
      const response = await ask(`/api/sandbox/one?reason=${reason}`, { method: 'DELETE' })
      expect(response.status).toBe(400)
      expect(driver.sandboxes.size).toBe(1)
    },
  )

  test('that was shown before it was made anew leaves the new one alone', async () => {
    const { addLeaked, ask, driver } = setup()
    await addLeaked('one')
    await ask('/api/sandbox/one', { method: 'DELETE' })
    await addLeaked('one')
    const stale = await ask('/api/sandbox/one?generation=1', { method: 'DELETE' })
    expect([stale.status, await stale.json()]).toEqual([200, { id: 'one', outcome: 'gone' }])
    expect(driver.sandboxes.has('one')).toBe(true)
    await ask('/api/sandbox/one?generation=2', { method: 'DELETE' })
    expect(driver.sandboxes.has('one')).toBe(false)
  })
})

test('a cursor cannot write headers', async () => {
  const { addLeaked, ask } = setup()
  for (const id of ['a', 'b']) await addLeaked(id)
  const response = await ask('/api/sandbox/list?limit=1&session_id=%0d%0aSet-Cookie:x%3E')
  expect(response.headers.get('Set-Cookie')).toBeNull()
  const next = await ask('/api/sandbox/list?limit=1&provider=test')
  expect(next.headers.get('Link')).toMatch(/^<[^<>"\r\n]+>; rel="next"$/)
})

describe('mounted in another app', () => {
  const { app } = setup()
  const host = new Hono().route('/ops/fleet', app)
  const bearer = { headers: { Authorization: `Bearer ${TOKEN}` } }

  test('everything is where it should be', async () => {
    expect((await host.request('/ops/fleet/api/sandbox/stats', bearer)).status).toBe(200)
    expect((await host.request('/ops/fleet/api/sandbox/stats')).status).toBe(401)
    expect((await host.request('/ops/fleet/dashboard.js')).status).toBe(200)
    const page = await host.request('/ops/fleet')
    expect([page.status, page.headers.get('Location')]).toEqual([308, '/ops/fleet/'])
  })
})

test('the dashboard holds no data, and says what it may load', async () => {
  const { ask } = setup()
  const response = await ask('/', { token: null })
  expect(response.status).toBe(200)
  expect(response.headers.get('Content-Security-Policy')).toContain("default-src 'none'")
  expect(response.headers.get('Content-Security-Policy')).not.toContain('unsafe')
  expect(response.headers.get('X-Frame-Options')).toBe('DENY')
})

test('every refusal has one body', async () => {
  const parts = setup()
  const { app } = parts
  const authorization = `Bearer ${TOKEN}`
  const asked: readonly (readonly [string, RequestInit])[] = [
    ['/api/sandbox/stats', {}],
    ['/api/sandbox/stats', { headers: { authorization: 'Bearer not-the-right-one' } }],
    ['/api/sandbox/list?limit=no', { headers: { authorization } }],
    ['/api/sandbox/nobody', { headers: { authorization } }],
    ['/api/sandbox/stats', { headers: { authorization }, method: 'POST' }],
    ['/nowhere', { headers: { authorization } }],
  ]
  const bodies = await Promise.all(
    asked.map(async ([path, init]) => {
      const answer = await app.request(path, init)
      return [answer.status, await answer.json()]
    }),
  )
  expect(bodies.map(([status]) => status)).toEqual([401, 403, 400, 404, 405, 404])
  for (const [, body] of bodies) {
    expect(body).toEqual({
      error: expect.objectContaining({ code: expect.any(String), message: expect.any(String) }),
    })
  }
  expect(bodies[2]?.[1]).toMatchObject({ error: { details: { issues: [{ path: 'limit' }] } } })
})
