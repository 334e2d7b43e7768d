// The client of the page against a server.
import { serve, type ServerType } from '@hono/node-server'
import { Hono } from 'hono'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { FleetClient, RequestFailed } from '../../src/dashboard/page/fleet-client.ts'
import { setup, TOKEN } from '../http/harness.ts'

let server: ServerType
let address: string
let app: Hono
let requests: { readonly line: string; readonly authorization: string | undefined }[] = []

beforeAll(async () => {
  const listening = Promise.withResolvers<{ readonly port: number }>()
  server = serve(
    {
      fetch: (request) => {
        const { pathname, search } = new URL(request.url)
        const authorization = request.headers.get('Authorization') ?? undefined
        requests.push({ line: `${request.method} ${pathname}${search}`, authorization })
        return app.fetch(request)
      },
      port: 0,
      hostname: '127.0.0.1',
      overrideGlobalObjects: false,
    },
    listening.resolve,
  )
  address = `http://127.0.0.1:${(await listening.promise).port}/`
})
afterAll(() => void server.close())
beforeEach(() => {
  requests = []
  app = new Hono()
})

const client = (page = address, token = 'a token') => new FleetClient(token, page)
const linesOf = () => requests.map(({ line }) => line)

test('each request goes to the API beside the page, with the token', async () => {
  app.all('*', (context) => context.json({ is: 'it' }))
  const api = client(`${address}fleet/page.html`)
  await api.stats()
  await api.show('a/b')
  await api.logs('a/b')
  await api.resources('a/b')
  await api.terminate({ id: 'a/b', generation: 3 })
  await api.run('cleanup/emergency', true)
  expect(await api.run('reconcile', false)).toEqual({ is: 'it' })
  expect(linesOf()).toEqual([
    'GET /fleet/api/sandbox/stats',
    'GET /fleet/api/sandbox/a%2Fb',
    'GET /fleet/api/sandbox/a%2Fb/logs',
    'GET /fleet/api/sandbox/a%2Fb/resources',
    'DELETE /fleet/api/sandbox/a%2Fb?generation=3',
    'POST /fleet/api/sandbox/cleanup/emergency?dry_run=true',
    'POST /fleet/api/sandbox/reconcile?dry_run=false',
  ])
  expect(new Set(requests.map(({ authorization }) => authorization))).toEqual(
    new Set(['Bearer a token']),
  )
})

/** A list of so many pages, each with a link to the next. */
function pages(count: number, link = (next: number) => `<?page=${next}>; rel="next"`): void {
  app.get('/api/sandbox/list', (context) => {
    const page = Number(context.req.query('page') ?? 0)
    if (page + 1 < count) context.header('Link', link(page + 1))
    return context.json([{ id: `s${page}` }])
  })
}

describe('a list', () => {
  test('is read page by page, each after the one before', async () => {
    pages(3)
    expect(await client().list({ status: 'active' }, 9)).toEqual({
      sandboxes: [{ id: 's0' }, { id: 's1' }, { id: 's2' }],
      isComplete: true,
    })
    expect(linesOf()).toEqual([
      'GET /api/sandbox/list?limit=200&status=active',
      'GET /api/sandbox/list?page=1',
      'GET /api/sandbox/list?page=2',
    ])
  })

  test('has as many pages as are wanted, and says when there are more', async () => {
    pages(3)
    const two = await client().list({}, 2)
    expect(two).toEqual({ sandboxes: [{ id: 's0' }, { id: 's1' }], isComplete: false })
    expect(await client().list({}, 3)).toMatchObject({ isComplete: true })
  })

  test('does not go on to another server', async () => {
    pages(2, () => '<http://127.0.0.2/api/sandbox/list>; rel="next"')
    const error: unknown = await client()
      .list({}, 2)
      .catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(RequestFailed)
    expect(error).toMatchObject({ status: 0, message: 'a page of another server' })
  })
})

describe('a request that fails', () => {
  test.each([
    [403, () => Response.json({ error: { message: 'no' } }, { status: 403 }), 'no'],
    [500, () => Response.json({}, { status: 500 }), 'The server answered 500.'],
    [502, () => new Response('<html>', { status: 502 }), 'The server answered 502.'],
  ] as const)('with %s says why', async (status, answer, message) => {
    app.get('*', answer)
    const failed = client().stats()
    await expect(failed).rejects.toMatchObject({ name: 'RequestFailed', status, message })
  })

  test('because nobody answers, or the answer is elsewhere, is said', async () => {
    app.get('*', (context) => context.redirect('/elsewhere'))
    for (const page of [address, 'http://127.0.0.1:1/']) {
      const failed = client(page).stats()
      const message: unknown = expect.stringMatching(/^The server cannot be reached: TypeError/)
      await expect(failed).rejects.toMatchObject({ status: 0, message })
    }
    expect(linesOf()).toEqual(['GET /api/sandbox/stats'])
  })
})

test('it understands the API of a fleet', async () => {
  const fleet = setup()
  await fleet.addLeaked('leaked')
  app.all('*', (context) => fleet.app.fetch(context.req.raw))
  const api = client(address, TOKEN)
  expect(await api.stats()).toMatchObject({ active: 1 })
  expect(await api.list({ status: 'active' }, 1)).toMatchObject({ sandboxes: [{ id: 'leaked' }] })
  expect(await api.terminate({ id: 'leaked', generation: 1 })).toMatchObject({
    outcome: 'destroyed',
  })
  await expect(client(address, 'another').stats()).rejects.toMatchObject({ status: 403 })
})

test('a pass has five minutes, and what is only read a quarter of one', async () => {
  app.all('*', (context) => context.json({}))
  const timeout = vi.spyOn(AbortSignal, 'timeout')
  const api = client()
  await api.stats()
  await api.run('cleanup', true)
  await api.terminate({ id: 'a', generation: 1 })
  expect(timeout.mock.calls).toEqual([[15_000], [300_000], [300_000]])
})
