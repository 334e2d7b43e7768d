// What may be asked, up to which bounds, and what the ledger is asked for it.
import { Hono } from 'hono'
import { describe, expect, test } from 'vitest'
import { rejectBody } from '../../src/http/reject-body.ts'
import {
  idSchema,
  listQuerySchema,
  passQuerySchema,
  terminateQuerySchema,
  toFleetQuery,
} from '../../src/http/request-schemas.ts'

const NOW = 1_700_000_000_000
const isList = (query: object): boolean => listQuerySchema.safeParse(query).success
const isPass = (query: object): boolean => passQuerySchema.safeParse(query).success
const isEnd = (query: object): boolean => terminateQuerySchema.safeParse(query).success

describe('a list', () => {
  test.each(['provider', 'session_id', 'agent_type', 'task_id', 'tenant'])(
    'may be of one %s, of 1 to 256 characters',
    (name) => {
      expect(
        ['', 'x', 'x'.repeat(256), 'x'.repeat(257)].map((text) => isList({ [name]: text })),
      ).toEqual([false, true, true, false])
    },
  )

  test.each([
    ['limit', ['0', '1', '200', '201', '1.5', '', 'x']],
    ['older_than_minutes', ['0', '0.1', '1e9', '1000000001', '-1', '', 'x']],
  ])('takes a %s within its bounds', (name, values) => {
    const valid = values.filter((value) => isList({ [name]: value }))
    expect(valid).toEqual(values.slice(1, 3))
  })

  test('takes a cursor of 1024 characters at most, and every status', () => {
    expect([isList({ cursor: 'x'.repeat(1024) }), isList({ cursor: 'x'.repeat(1025) })]).toEqual([
      true,
      false,
    ])
    const statuses = [
      'provisioning',
      'running',
      'terminating',
      'terminated',
      'failed',
      'active',
      'all',
      'gone',
    ]
    expect(statuses.filter((status) => !isList({ status }))).toEqual(['gone'])
    expect(isList({ unheard: 'of' })).toBe(false)
  })

  test('asks the ledger for what is active, unless another status is named', () => {
    const status = ['provisioning', 'running', 'terminating', 'failed']
    expect(toFleetQuery({}, NOW)).toStrictEqual({ status })
    expect(toFleetQuery({ status: 'active' }, NOW)).toStrictEqual({ status })
    expect(toFleetQuery({ status: 'all' }, NOW)).toStrictEqual({})
    expect(toFleetQuery({ status: 'failed' }, NOW)).toStrictEqual({ status: 'failed' })
  })

  test('asks the ledger for everything that is named', () => {
    const query = {
      status: 'all',
      provider: 'p',
      session_id: 's',
      agent_type: 'a',
      task_id: 'k',
      tenant: 't',
      older_than_minutes: 2,
      limit: 3,
      cursor: 'c',
    } as const
    expect(toFleetQuery(query, NOW)).toStrictEqual({
      provider: 'p',
      sessionId: 's',
      agentType: 'a',
      taskId: 'k',
      tenant: 't',
      createdBefore: NOW - 120_000,
      limit: 3,
      cursor: 'c',
    })
  })
})

describe('ending one', () => {
  test('takes a reason in one line of 500 characters at most', () => {
    const reasons = ['', ' ', 'x', 'two words', 'x'.repeat(500), 'x'.repeat(501), 'a\nb', '\u007f']
    expect(reasons.filter((reason) => isEnd({ reason }))).toEqual([
      'x',
      'two words',
      'x'.repeat(500),
    ])
  })

  test('takes the number of a life, from 1', () => {
    const numbers = ['0', '1', '2', '1.5', '-1', 'x', '']
    expect(numbers.filter((generation) => isEnd({ generation }))).toEqual(['1', '2'])
    expect(terminateQuerySchema.parse({ generation: '2' })).toEqual({ generation: 2 })
    expect([isEnd({}), isEnd({ unheard: 'of' })]).toEqual([true, false])
  })

  test('takes the id of a sandbox', () => {
    expect([
      idSchema.safeParse({ id: 'a' }).success,
      idSchema.safeParse({ id: '-a' }).success,
    ]).toEqual([true, false])
    expect(idSchema.safeParse({ id: '-a' }).error?.issues[0]?.message).toBe(
      'not the id of a sandbox',
    )
  })
})

test('a pass is a dry run, or none', () => {
  const queries = [
    {},
    { dry_run: 'true' },
    { dry_run: 'false' },
    { dry_run: '' },
    { dryRun: 'true' },
  ]
  expect(queries.map(isPass)).toEqual([true, true, true, false, false])
})

describe('a body', () => {
  const app = new Hono()
  app.use(rejectBody)
  app.post('/', (context) => context.text('done'))
  const post = (init: object = {}) => app.request('/', { method: 'POST', ...init })

  test('is refused with a word of where parameters belong', async () => {
    const response = await post({ body: 'dry_run=true' })
    const message = 'a request has no body: its parameters are in the query, such as ?dry_run=true'
    expect([response.status, await response.json()]).toEqual([
      400,
      { error: { code: 'invalid-query', message } },
    ])
  })

  test('is told by its length, where that is known', async () => {
    const lengths = [undefined, '0', '1']
    const statuses = await Promise.all(
      lengths.map(async (length) => {
        const headers = length === undefined ? {} : { 'content-length': length }
        return (await post({ headers })).status
      }),
    )
    expect(statuses).toEqual([200, 200, 400])
  })

  test('of empty pieces is none; the first byte ends the reading', async () => {
    let isCancelled = false
    const bodyOf = (...pieces: readonly number[][]): ReadableStream =>
      new ReadableStream({
        start(stream) {
          for (const piece of pieces) stream.enqueue(new Uint8Array(piece))
          if (pieces.every(({ length }) => length === 0)) stream.close()
        },
        cancel: () => void (isCancelled = true),
      })
    expect((await post({ body: bodyOf([], []), duplex: 'half' })).status).toBe(200)
    expect((await post({ body: bodyOf([], [1]), duplex: 'half' })).status).toBe(400)
    expect(isCancelled).toBe(true)
  })
})
