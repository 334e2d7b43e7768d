// What the app is made of: its options, and what each answer carries beside its body.
import { ManualClock, RecordingLogger } from '@helix-agents/core/testing'
import { createFleetApp, type Fleet } from '@helix-agents/sandbox-fleet'
import { describe, expect, test } from 'vitest'
import { MINUTE_MS, setup, TOKEN } from './harness.ts'

const bearer = { headers: { Authorization: `Bearer ${TOKEN}` } }

describe('in a Worker', () => {
  test('fleet and token are made of the environment of the request', async () => {
    const { fleet, addLeaked } = setup()
    await addLeaked('one')
    const app = createFleetApp<{ readonly fleets: Fleet; readonly token: string }>({
      fleet: ({ fleets }) => fleets,
      adminToken: ({ token }) => token,
    })
    const ask = (token: string) =>
      app.request('/api/sandbox/list', bearer, { fleets: fleet, token })
    expect(await (await ask(TOKEN)).json()).toMatchObject([{ id: 'one' }])
    expect((await ask('another-admin-token')).status).toBe(403)
  })
})

describe('ages', () => {
  test('are told by the clock of the app', async () => {
    const { addLeaked, fleet } = setup()
    await addLeaked('one')
    const clock = new ManualClock(Date.UTC(2026, 0, 1, 1))
    const app = createFleetApp({ fleet, adminToken: TOKEN, clock })
    const ask = async (path: string) => (await app.request(`/api/sandbox/${path}`, bearer)).json()
    expect(await ask('list')).toMatchObject([{ age_minutes: 60 }])
    expect(await ask('one')).toMatchObject({ age_minutes: 60 })
    expect(await ask('stats')).toMatchObject({ time: '2026-01-01T01:00:00.000Z' })
    expect(await ask('list?older_than_minutes=61')).toEqual([])
    expect(await ask('list?older_than_minutes=60')).toMatchObject([{ id: 'one' }])
  })

  test('are told by the time of the fleet where the app has no clock', async () => {
    const { addLeaked, clock, fleet } = setup()
    await addLeaked('one')
    await clock.advance(5 * MINUTE_MS)
    const app = createFleetApp({ fleet, adminToken: TOKEN })
    const list = await (await app.request('/api/sandbox/list', bearer)).json()
    expect(list).toMatchObject([{ age_minutes: 5 }])
  })
})

describe('no answer with data is kept by a cache', () => {
  test.each(['/api/sandbox/stats', '/api/sandbox/nobody', '/metrics', '/openapi.json'])(
    '%s',
    async (path) => {
      const response = await setup().ask(path)
      expect(response.headers.get('Cache-Control')).toBe('no-store')
    },
  )
})

test('what fails is in the log', async () => {
  const logger = new RecordingLogger()
  const { ask, store } = setup({ logger })
  const failure = new Error('away')
  store.counts = () => Promise.reject(failure)
  expect((await ask('/api/sandbox/stats')).status).toBe(500)
  expect(logger.lines).toEqual([
    { level: 'error', message: 'fleet request failed', fields: { err: failure } },
  ])
})

describe('ending one', () => {
  test('without a reason says where it came from', async () => {
    const { addLeaked, ask, store } = setup()
    await addLeaked('one')
    await ask('/api/sandbox/one', { method: 'DELETE' })
    expect((await store.get('one'))?.kill).toMatchObject({ detail: 'ended over HTTP' })
  })

  test('that is under way already is not done yet', async () => {
    const { addLeaked, ask, driver } = setup()
    await addLeaked('one')
    const gate = Promise.withResolvers<void>()
    const terminate = driver.terminate.bind(driver)
    driver.terminate = async (target) => {
      await gate.promise
      await terminate(target)
    }
    const first = ask('/api/sandbox/one', { method: 'DELETE' })
    const second = await ask('/api/sandbox/one', { method: 'DELETE' })
    expect([second.status, await second.json()]).toEqual([
      202,
      { id: 'one', outcome: 'in-progress' },
    ])
    gate.resolve()
    expect((await first).status).toBe(200)
  })
})

test('a dry run changes nothing, and says so', async () => {
  const { addLeaked, ask, clock, driver } = setup()
  await addLeaked('one')
  await clock.advance(45 * MINUTE_MS)
  for (const pass of ['cleanup', 'cleanup/emergency', 'reconcile']) {
    const answer = await ask(`/api/sandbox/${pass}?dry_run=true`, { method: 'POST' })
    expect([pass, await answer.json()]).toMatchObject([pass, { dry_run: true }])
  }
  expect(driver.sandboxes.size).toBe(1)
  const real = await ask('/api/sandbox/cleanup?dry_run=false', { method: 'POST' })
  expect(await real.json()).toMatchObject({ dry_run: false })
  expect(driver.sandboxes.size).toBe(0)
})

test('metrics tell which alert is firing', async () => {
  const { addLeaked, ask, clock, fleet } = setup()
  await addLeaked('one')
  await clock.advance(60 * MINUTE_MS)
  const firing = (await fleet.alerts()).filter(({ state }) => state === 'firing')
  const text = await (await ask('/metrics')).text()
  expect(firing.length).toBeGreaterThan(0)
  for (const { name } of firing) {
    expect(text).toContain(`helix_fleet_alert_firing{environment="test",alert="${name}"} 1\n`)
  }
})

test('the page of a list names the next one, with all that was asked', async () => {
  const { addLeaked, ask } = setup()
  for (const id of ['a', 'b']) await addLeaked(id)
  const first = await ask('/api/sandbox/list?limit=1&provider=test&cursor=')
  expect(first.status).toBe(400)
  const page = await ask('/api/sandbox/list?limit=1&provider=test')
  expect(page.headers.get('Link')).toMatch(
    /^<\/api\/sandbox\/list\?limit=1&provider=test&cursor=[^&>]+>; rel="next"$/,
  )
  expect((await ask('/api/sandbox/list?limit=2')).headers.get('Link')).toBeNull()
})

describe('the dashboard', () => {
  test.each([
    ['/', 'text/html; charset=UTF-8'],
    ['/dashboard.js', 'text/javascript; charset=utf-8'],
    ['/dashboard.css', 'text/css; charset=utf-8'],
  ])('%s may load only what is beside it, in no frame', async (path, type) => {
    const { headers, status } = await setup().ask(path, { token: null })
    expect([status, headers.get('Content-Type')]).toEqual([200, type])
    expect(headers.get('X-Frame-Options')).toBe('DENY')
    expect(headers.get('X-Content-Type-Options')).toBe('nosniff')
    expect(headers.get('Content-Security-Policy')?.split('; ')).toEqual([
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      "connect-src 'self'",
      'img-src data:',
      "form-action 'none'",
      "base-uri 'none'",
      "frame-ancestors 'none'",
    ])
  })
})
