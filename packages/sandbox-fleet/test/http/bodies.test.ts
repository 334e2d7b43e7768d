// What a request says anywhere but in its query is not overheard: it would be done all the same.
import { describe, expect, test } from 'vitest'
import { setup } from './harness.ts'

const passes = ['cleanup', 'cleanup/emergency', 'reconcile']

describe.each(passes)('POST /api/sandbox/%s', (pass) => {
  test.each([
    ['application/json', '{"dry_run":true}'],
    ['application/x-www-form-urlencoded', 'dry_run=true'],
    ['text/plain', 'x'],
  ])('with a body that is %s does nothing', async (type, body) => {
    const { addLeaked, ask, clock, store } = setup()
    await addLeaked('sb-1')
    await clock.advance(3_600_000)
    const headers = { 'content-type': type }
    const answer = await ask(`/api/sandbox/${pass}`, { method: 'POST', body, headers })
    expect(answer.status).toBe(400)
    expect((await store.get('sb-1'))?.status).toBe('running')
  })

  test('does not wait for the end of a body', async () => {
    const { ask } = setup()
    const body = new ReadableStream({
      start: (stream) => stream.enqueue(new Uint8Array([0x7b])),
    })
    const init = { method: 'POST', body, duplex: 'half' } as RequestInit
    expect((await ask(`/api/sandbox/${pass}`, init)).status).toBe(400)
  })

  test.each([undefined, ''])('may have an empty body (%j)', async (body) => {
    const { ask } = setup()
    const init = { method: 'POST', ...(body !== undefined && { body }) }
    expect((await ask(`/api/sandbox/${pass}?dry_run=true`, init)).status).toBe(200)
  })

  test.each(['dry_run=true&dry_run=false', '__proto__=1', 'constructor=1', 'dry_run=TRUE'])(
    'refuses the query %s',
    async (query) => {
      const { ask } = setup()
      expect((await ask(`/api/sandbox/${pass}?${query}`, { method: 'POST' })).status).toBe(400)
    },
  )
})

test('DELETE with a reason in the body is rejected', async () => {
  const { addLeaked, ask, store } = setup()
  await addLeaked('sb-1')
  const init = { method: 'DELETE', body: '{"reason":"why"}' }
  expect((await ask('/api/sandbox/sb-1', init)).status).toBe(400)
  expect((await store.get('sb-1'))?.status).toBe('running')
})

describe('paths', () => {
  test.each([
    '//api/sandbox/stats',
    '/%61pi/sandbox/stats',
    '/api/./sandbox/stats',
    '/api/x/../sandbox/stats',
    '/api%2fsandbox/stats',
    '/API/sandbox/stats',
    '/api/sandbox/stats;a=b',
    '/metrics/',
    '/metrics%00',
    '/openapi.json/',
  ])('%s tells nothing without a token', async (path) => {
    const { ask } = setup()
    const answer = await ask(path, { token: null })
    expect([401, 404]).toContain(answer.status)
    expect(await answer.text()).not.toContain('total_created')
  })

  test.each([
    '..',
    '%2e%2e',
    '%2Fetc%2Fpasswd',
    '%00',
    '%ZZ',
    'a%0Ab',
    '%F0%9F%98%80',
    'a'.repeat(129),
  ])('the id %s is none', async (id) => {
    const { ask, driver } = setup()
    for (const end of ['', '/logs', '/resources']) {
      const answer = await ask(`http://localhost/api/sandbox/${id}${end}`)
      expect([400, 404]).toContain(answer.status)
    }
    expect(driver.sandboxes.size).toBe(0)
  })

  test.each(['constructor', 'toString', 'hasOwnProperty', 'valueOf'])(
    'the id %s is one like any other',
    async (id) => {
      const { addLeaked, ask } = setup()
      expect((await ask(`/api/sandbox/${id}`)).status).toBe(404)
      await addLeaked(id)
      expect(await (await ask(`/api/sandbox/${id}`)).json()).toMatchObject({ id })
      const ended = await ask(`/api/sandbox/${id}`, { method: 'DELETE' })
      expect(await ended.json()).toEqual({ id, outcome: 'destroyed' })
    },
  )
})

test('a token may have any visible character', async () => {
  const adminToken = 'a!token#with$every%sign&'
  const { ask } = setup({ adminToken })
  expect((await ask('/api/sandbox/stats', { token: adminToken })).status).toBe(200)
  expect((await ask('/api/sandbox/stats', { token: 'a!token#with$other%sign&' })).status).toBe(403)
})
