// Who may use the API: the addresses of this machine, the origin of a request, and its token.
import { describe, expect, test } from 'vitest'
import { setup, TOKEN } from './harness.ts'

const PATH = '/api/sandbox/stats'
const OTHER = 'the-next-admin-token'

async function statusOf(address: string, init: Parameters<ReturnType<typeof setup>['ask']>[1]) {
  const open = setup({ insecureAllowLocal: true })
  return (await open.ask(address, init)).status
}

describe('where no token is asked for', () => {
  test.each([
    ['http://localhost:8787', 200],
    ['http://127.0.0.1', 200],
    ['http://[::1]:8787', 200],
    ['http://127.0.0.2', 401],
    ['http://[::2]', 401],
    ['http://localhost.example', 401],
    ['http://0.0.0.0', 401],
  ])('%s: %s', async (address, status) => {
    expect(await statusOf(`${address}${PATH}`, { token: null })).toBe(status)
  })

  test('a token that is given has to be right all the same', async () => {
    expect(await statusOf(`http://localhost${PATH}`, { token: OTHER })).toBe(403)
    expect(await statusOf(`http://localhost${PATH}`, { token: TOKEN })).toBe(200)
  })
})

describe('a request from a page', () => {
  test.each([
    [{ 'Sec-Fetch-Site': 'same-origin' }, 200],
    [{ 'Sec-Fetch-Site': 'none' }, 200],
    [{ 'Sec-Fetch-Site': 'same-site' }, 403],
    [{ 'Sec-Fetch-Site': '' }, 403],
    // A browser that tells the site is believed before the origin.
    [{ 'Sec-Fetch-Site': 'same-origin', Origin: 'https://evil.example' }, 200],
    [{ Origin: 'https://fleet.example' }, 200],
    // Behind a proxy that ends TLS.
    [{ Origin: 'http://fleet.example' }, 200],
    [{ Origin: 'https://fleet.example:8443' }, 403],
    [{ Origin: 'null' }, 403],
    [{ Origin: '' }, 403],
  ])('with %j: %s', async (headers, status) => {
    const answer = await setup().ask(`https://fleet.example${PATH}`, { headers })
    expect(answer.status).toBe(status)
  })

  test('is told why it is refused', async () => {
    const headers = { Origin: 'https://evil.example' }
    const answer = await setup().ask(`https://fleet.example${PATH}`, { headers })
    expect(await answer.json()).toMatchObject({
      error: { code: 'forbidden', message: 'the request comes from another site' },
    })
  })
})

describe('a token', () => {
  const withHeader = (Authorization: string) =>
    setup({ adminToken: [TOKEN, OTHER] }).ask(PATH, { token: null, headers: { Authorization } })

  test.each([
    [`Bearer ${TOKEN}`, 200],
    [`bearer   ${OTHER}`, 200],
    [`BEARER ${TOKEN}`, 200],
    [`Bearer${TOKEN}`, 401],
    [` x Bearer ${TOKEN}`, 401],
    [`Bearer ${TOKEN}${OTHER}`, 403],
  ])('in %j: %s', async (header, status) => {
    expect((await withHeader(header)).status).toBe(status)
  })

  test('that is missing or wrong is said, and asked for', async () => {
    const missing = await setup().ask(PATH, { token: null })
    expect(missing.headers.get('WWW-Authenticate')).toBe('Bearer realm="sandbox fleet"')
    expect(await missing.json()).toMatchObject({
      error: { code: 'unauthorized', message: 'the admin token is missing' },
    })
    const wrong = await setup().ask(PATH, { token: OTHER })
    expect(wrong.headers.get('WWW-Authenticate')).toBeNull()
    expect(await wrong.json()).toMatchObject({
      error: { code: 'forbidden', message: 'the admin token is wrong' },
    })
  })

  test.each([
    ['x'.repeat(15), 500],
    ['x'.repeat(16), 200],
  ])('of a fleet has at least 16 characters: %s', async (token, status) => {
    const answer = await setup({ adminToken: token }).ask(PATH, { token })
    expect(answer.status).toBe(status)
  })
})
