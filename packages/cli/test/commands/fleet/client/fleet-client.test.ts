// What a call of a fleet sends, and what is said of an answer that is none.
import { describe, expect, test } from 'vitest'
import {
  addressOf,
  FleetClient,
  type SendFleetCall,
} from '../../../../src/commands/fleet/client/fleet-client.ts'
import { logsSchema } from '../../../../src/commands/fleet/client/fleet-answers.ts'

const call = { path: '/logs' }

function answering(answer: () => Response | Promise<Response>): FleetClient {
  return new FleetClient('http://fleet.test', async () => answer())
}

describe('an address', () => {
  test.each([
    ['http://f', 'http://f/logs'],
    ['http://f/', 'http://f/logs'],
    ['http://f/below//', 'http://f/below/logs'],
    ['http://f/?key=1', 'http://f/logs?key=1'],
  ])('below %s is %s', (base, address) => {
    expect(addressOf(new URL(base), call).href).toBe(address)
  })

  test('has the query, without what is not given', () => {
    const query = { status: 'a b', cursor: undefined }
    const base = new URL('http://f')
    expect(addressOf(base, { ...call, query }).href).toBe('http://f/logs?status=a+b')
    expect(base.href).toBe('http://f/')
  })
})

describe('an answer', () => {
  test.each([
    [undefined, undefined],
    ['<http://f/x?cursor=abc>; rel="next"', 'abc'],
    ['</x?cursor=a%20b>;rel="next"', 'a b'],
    ['</x>; rel="next"', undefined],
    ['</x?cursor=abc>; rel="prev"', undefined],
    ['<http://>; rel="next"', undefined],
    ['<>; rel="next"', undefined],
  ])('with the link %s goes on at %s', async (link, nextCursor) => {
    const headers = link === undefined ? {} : { link }
    const api = answering(() => Response.json({ lines: [] }, { headers }))
    const body = { lines: [], is_cut: false }
    const expected = nextCursor === undefined ? { body } : { body, nextCursor }
    expect(await api.call(call, logsSchema)).toEqual(expected)
  })

  test('is given as it is when it is asked for so', async () => {
    expect(await answering(() => new Response('a\nb')).text(call)).toBe('a\nb')
  })
})

const mebibytes = (count: number) => new Response(new Uint8Array(count * 1024 * 1024))

describe('an answer that is none', () => {
  const place = 'http://fleet.test: '
  const NOT_A_FLEET = 'this is not a fleet'

  test.each([
    [300, 'the server redirects (HTTP 300)'],
    [399, 'the server redirects (HTTP 399)'],
    [400, 'the server does not answer (HTTP 400)'],
    [401, 'it wants a token: $HELIX_FLEET_TOKEN or --token-file (HTTP 401)'],
    [403, 'it rejects the token (HTTP 403)'],
    [404, `${NOT_A_FLEET} (HTTP 404)`],
    [500, 'the server does not answer (HTTP 500)'],
  ])('with the status %s', async (status, said) => {
    const failed = answering(() => new Response('<html>', { status })).text(call)
    await expect(failed).rejects.toMatchObject({ message: place + said, exitCode: 3 })
  })

  test.each([
    [400, 2, 'odd (bad, HTTP 400)'],
    [409, 1, 'odd (bad, HTTP 409)'],
    [500, 3, `${place}odd (bad, HTTP 500)`],
    [401, 3, `${place}it wants a token: $HELIX_FLEET_TOKEN or --token-file (HTTP 401)`],
    [403, 3, `${place}it rejects the token (HTTP 403)`],
  ])('of a fleet that says why, with %s', async (status, exitCode, message) => {
    const body = { error: { code: 'bad', message: 'odd' } }
    const failed = answering(() => Response.json(body, { status })).text(call)
    await expect(failed).rejects.toMatchObject({ exitCode, message })
  })

  test('has its details on a line of their own', async () => {
    const body = { error: { code: 'bad', message: 'odd', details: { field: 'x' } } }
    const failed = answering(() => Response.json(body, { status: 400 })).text(call)
    const message = 'odd (bad, HTTP 400)\ndetails: {"field":"x"}'
    await expect(failed).rejects.toMatchObject({ message })
  })

  test('has another form', async () => {
    const failed = answering(() => Response.json({})).call(call, logsSchema)
    const message: unknown = expect.stringMatching(
      /^http:\/\/fleet.test: this is not a fleet\n.*lines/s,
    )
    await expect(failed).rejects.toMatchObject({ exitCode: 3, message })
  })

  test.each([
    [new Error('no'), 'no'],
    [new Error('no', { cause: new Error('deep') }), 'no: deep'],
    [new Error('no', { cause: new RangeError() }), 'no: RangeError'],
    [new DOMException('x', 'TimeoutError'), 'no answer in time (--timeout)'],
    ['a text', 'a text'],
  ])('because of %s', async (cause, said) => {
    const failed = answering(() => Promise.reject(cause)).text(call)
    await expect(failed).rejects.toMatchObject({ exitCode: 3, message: place + said, cause })
    const broken = new ReadableStream({ pull: (controller) => controller.error(cause) })
    const cut = answering(() => new Response(broken)).text(call)
    await expect(cut).rejects.toMatchObject({ exitCode: 3, message: place + said, cause })
  })

  test('because it is too long', async () => {
    expect(await answering(() => mebibytes(32)).text(call)).toHaveLength(32 * 1024 * 1024)
    const failed = answering(() => mebibytes(33)).text(call)
    await expect(failed).rejects.toMatchObject({ message: `${place}the answer is too long` })
  })
})

test('calls have a deadline of their own, or one together', async () => {
  const { signal } = new AbortController()
  const seen: unknown[] = []
  const send: SendFleetCall = async (_, given) => {
    seen.push(given)
    return new Response('')
  }
  let begun = 0
  const api = new FleetClient('f', send, () => {
    begun += 1
    return signal
  })
  await api.text(call)
  const together = api.withOneDeadline()
  await together.text(call)
  await together.text(call)
  await new FleetClient('f', send).withOneDeadline().text(call)
  expect(seen).toEqual([undefined, signal, signal, undefined])
  expect(begun).toBe(1)
})
