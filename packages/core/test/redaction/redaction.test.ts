import {
  FileSystemError,
  PolicyError,
  ToolInputError,
  WorkspaceFailedError,
} from '@helix-agents/core'
import { createRedaction } from '@helix-agents/core/runtime'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

const SECRET = 'hunter2-hunter2'
const { fields, value } = createRedaction()

describe('secrets by the name of their field', () => {
  test.each([
    'authorization',
    'Authorization',
    'proxy-authorization',
    'apiKey',
    'API_KEY',
    'x-api-key',
    'token',
    'accessToken',
    'refresh_token',
    'password',
    'db_password',
    'passwd',
    'passphrase',
    'secret',
    'clientSecret',
    'cookie',
    'set-cookie',
    'credentials',
    'privateKey',
    'awsAccessKeyId',
    'secretAccessKey',
  ])('%s', (key) => {
    const nested = { fields: { config: [{ [key]: SECRET, other: 1 }] }, [key]: { deep: SECRET } }
    const copy = fields(nested)
    expect(JSON.stringify(copy)).not.toContain(SECRET)
    expect(copy).toEqual({
      fields: { config: [{ [key]: '[redacted]', other: 1 }] },
      [key]: '[redacted]',
    })
  })

  test.each([
    'pwd',
    'PGPWD',
    'pass',
    'dbPass',
    'SMTP_PASS',
    'auth',
    'npm_auth',
    'authHeader',
    'jwt',
    'dsn',
    'SENTRY_DSN',
    'otp',
    'connectionString',
    'AccountKey',
    'x-csrf-token',
  ])('%s too', (key) => {
    expect(fields({ [key]: SECRET, n: 1 })).toEqual({ [key]: '[redacted]', n: 1 })
  })

  test.each(['password', 'db_password', 'pwd', 'pass', 'clientSecret', 'otp'])(
    'a number that is a secret: %s',
    (key) => expect(fields({ [key]: 123_456 })).toEqual({ [key]: '[redacted]' }),
  )

  test('headers as pairs, as a flat list, and as objects of name and value', () => {
    const auth = ['authorization', 'Digest x'] as const
    const copy = fields({
      pairs: [[...auth], ['accept', '*/*']],
      rawHeaders: [...auth, 'accept', '*/*', 'X-Api-Key', SECRET],
      har: [
        { name: 'cookie', value: SECRET },
        { key: 'PASSWORD', value: 12_345, type: 'env' },
      ],
      plain: [{ name: 'box', value: 'v' }],
    })
    expect(copy).toEqual({
      pairs: [
        ['authorization', '[redacted]'],
        ['accept', '*/*'],
      ],
      rawHeaders: ['authorization', '[redacted]', 'accept', '*/*', 'X-Api-Key', '[redacted]'],
      har: [
        { name: 'cookie', value: '[redacted]' },
        { key: 'PASSWORD', value: '[redacted]', type: 'env' },
      ],
      plain: [{ name: 'box', value: 'v' }],
    })
  })

  test('a credential that is the name of a field', () => {
    expect(fields({ 'sk-proj-abcdefghijklmnop1234': 1 })).toEqual({ '[redacted]': 1 })
  })

  test('what an error of a model library has sent', () => {
    const error = Object.assign(new Error('overloaded'), {
      statusCode: 529,
      requestBodyValues: { messages: [{ role: 'user', content: 'my diary' }] },
    })
    const copy = fields({ err: new WorkspaceFailedError('provider-failed', 'x', { cause: error }) })
    expect(JSON.stringify(copy)).not.toContain('diary')
    expect(copy).toMatchObject({
      err: { cause: { statusCode: 529, requestBodyValues: '[redacted]' } },
    })
  })

  test('long texts are cut after their secrets are gone', () => {
    const long = `${'x'.repeat(32_760)} Bearer abcdefghijkl ${'y'.repeat(1000)}`
    const copy = value(long) as string
    expect(copy).not.toContain('abc')
    expect(copy).toMatch(/ (?:Bearer )?\[\d+ more characters\]$/)
  })

  test('names that only sound like it, and numbers, stay', () => {
    const usage = {
      inputTokens: 5,
      tokens: 7,
      tokenizer: 'bpe',
      author: 'x',
      compass: 'n',
      bypass: 'no',
      OAuthor: 'x',
      authMode: 'none',
      keyboard: 'de',
      path: '/a',
      hasPassword: true,
      token: undefined,
    }
    expect(fields(usage)).toEqual(usage)
  })

  test('further names may be given', () => {
    const own = createRedaction({ secretKeys: ['social-security'] })
    expect(own.fields({ socialSecurity: SECRET })).toEqual({ socialSecurity: '[redacted]' })
    expect(fields({ socialSecurity: SECRET })).toEqual({ socialSecurity: SECRET })
  })

  test('of an environment only the names are kept', () => {
    expect(fields({ config: { env: { PATH: '/bin', X: SECRET } } })).toEqual({
      config: { env: { PATH: '[redacted]', X: '[redacted]' } },
    })
    expect(fields({ env: [`X=${SECRET}`], environment: SECRET })).toEqual({
      env: '[redacted]',
      environment: '[redacted]',
    })
  })

  test('wherever they are: property', () => {
    const path = fc.array(fc.constantFrom('err', 'fields', 'config', 'cause', 'items'), {
      maxLength: 8,
    })
    fc.assert(
      fc.property(path, fc.boolean(), (names, inList) => {
        const secret: unknown = inList ? [{ apiKey: SECRET }] : { apiKey: SECRET }
        const nested = names.reduceRight<unknown>((inner, name) => ({ [name]: inner }), secret)
        expect(JSON.stringify(fields({ nested }))).not.toContain(SECRET)
      }),
    )
  })
})

describe('errors', () => {
  test('of the framework keep code, brand, fields and their chain of causes', () => {
    const root = Object.assign(new Error('connect refused'), {
      code: 'ECONNREFUSED',
      config: { headers: { authorization: SECRET }, url: 'https://x' },
    })
    const middle = new FileSystemError('not-found', '/notes.txt', { cause: root })
    const error = new WorkspaceFailedError('provider-failed', 'no box', {
      cause: middle,
      hint: 'Wait.',
      transient: true,
    })
    const copy = value(error)
    expect(copy).toMatchObject({
      type: 'WorkspaceFailedError',
      code: 'provider-failed',
      brand: 'helix-agents/error',
      transient: true,
      hint: 'Wait.',
      message: error.message,
      stack: expect.stringContaining('redaction.test'),
      cause: {
        type: 'FileSystemError',
        code: 'not-found',
        path: '/notes.txt',
        cause: {
          type: 'Error',
          code: 'ECONNREFUSED',
          message: 'connect refused',
          config: { headers: { authorization: '[redacted]' }, url: 'https://x' },
        },
      },
    })
    expect(JSON.stringify(copy)).not.toContain(SECRET)
  })

  test('keep their issues, and those of an aggregate', () => {
    const issues = [{ path: 'path', message: 'must be a string' }]
    const input = new ToolInputError('invalid-input', 'bad', { issues })
    const all = new AggregateError([input, new PolicyError('expansion', 'no')], 'several')
    expect(value(all)).toMatchObject({
      type: 'AggregateError',
      errors: [{ code: 'invalid-input', issues }, { code: 'expansion' }],
    })
  })

  test('that came by RPC, as plain objects, are errors too', () => {
    const plain = {
      name: 'WorkspaceFailedError',
      message: `Bearer ${SECRET}`,
      stack: 'at',
      code: 'x',
    }
    expect(value(plain)).toMatchObject({
      type: 'WorkspaceFailedError',
      code: 'x',
      message: 'Bearer [redacted]',
    })
  })
})

describe('any value has a copy', () => {
  test('of its kind, and the original stays as it was', () => {
    const original = {
      list: [new Date(0), 1n, null, new Uint8Array(3)],
      map: new Map([['token', SECRET]]),
      set: new Set(['a']),
      apiKey: SECRET,
    }
    expect(fields(original)).toEqual({
      list: ['1970-01-01T00:00:00.000Z', '1', null, '[3 bytes]'],
      map: { token: '[redacted]' },
      set: ['a'],
      apiKey: '[redacted]',
    })
    expect(original.apiKey).toBe(SECRET)
  })

  test('cycles, depth, length and unreadable fields have an end', () => {
    const cycle: Record<string, unknown> = { a: 1 }
    cycle.self = cycle
    expect(fields(cycle)).toEqual({ a: 1, self: '[circular]' })
    let deep: unknown = 'x'
    for (let depth = 0; depth < 50; depth++) deep = { deep }
    expect(JSON.stringify(value(deep))).toContain('[deep]')
    expect(value(Array.from({ length: 500 }, () => 1))).toHaveLength(201)
    const many = Object.fromEntries(Array.from({ length: 500 }, (_, at) => [`k${at}`, at]))
    expect(Object.keys(fields(many))).toHaveLength(201)
    const broken = {
      get x(): never {
        throw new RangeError('no')
      },
    }
    expect(fields({ broken })).toEqual({ broken: '[unreadable: RangeError]' })
    expect(fields(broken)).toEqual({ fields: '[unreadable: RangeError]' })
  })

  test('of what is not written nothing is read', () => {
    let read = 0
    const many: object = {}
    for (let at = 0; at < 500; at += 1)
      Object.defineProperty(many, `k${at}`, { enumerable: true, get: () => (read += 1) })
    expect(
      Object.keys(
        fields({ many, set: new Set(Array.from({ length: 300 }, (_, at) => at)) }).set as object,
      ),
    ).toHaveLength(201)
    expect(read).toBe(200)
  })

  test('the same object twice is no cycle', () => {
    const shared = { a: 1 }
    expect(fields({ one: shared, two: shared })).toEqual({ one: { a: 1 }, two: { a: 1 } })
  })

  test('never throws, and always is JSON: property', () => {
    fc.assert(
      fc.property(fc.anything({ withMap: true, withSet: true, withDate: true }), (anything) => {
        expect(() => JSON.stringify(fields({ anything }))).not.toThrow()
      }),
    )
  })
})
