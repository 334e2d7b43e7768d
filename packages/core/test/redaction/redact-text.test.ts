import { createRedaction, redactText } from '@helix-agents/core/runtime'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { hideUrlPasswords } from '../../src/redaction/url-passwords.ts'

const { fields } = createRedaction()

describe('secrets inside texts', () => {
  test.each([
    ['Authorization: Bearer abc.def-123', 'Authorization: Bearer [redacted]'],
    ['failed: basic dXNlcjpwYXNz', 'failed: basic [redacted]'],
    ['redis://user:pa55word@host/0', 'redis://user:[redacted]@host/0'],
    ['wrong key sk-proj-abcdefghijklmnop1234', 'wrong key [redacted]'],
    ['github_pat_11ABCDEFG0abcdefghij_klmnopqrst', '[redacted]'],
    ['glpat-abcdefghijklmnop1234', '[redacted]'],
    ['id AKIAABCDEFGHIJKLMNOP.', 'id [redacted].'],
    ['AIzaSyA-abcdefghijklmnopqrstuvwxyz012345', '[redacted]'],
    ['eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl', '[redacted]'],
    ['https://x.test/m?v=1&key=abc%2Fdef&n=2', 'https://x.test/m?v=1&key=[redacted]&n=2'],
    ['GET /?access_token=abcdef', 'GET /?access_token=[redacted]'],
    ['hf_abcdefghijklmnopqrstuvwxyzABCDEFGH', '[redacted]'],
    ['npm_abcdefghijklmnopqrstuvwxyz0123456789 x', '[redacted] x'],
    ['npm_config_registry=https://r.test/', 'npm_config_registry=https://r.test/'],
    ['got ya29.a0AfH6SMBabcdefghijklmnop_-1', 'got [redacted]'],
    ['whsec_abcdefghijklmnopqrstuvwx+/1=', '[redacted]'],
    [
      'https://hooks.slack.com/services/T1/B2/c3 now',
      'https://hooks.slack.com/services/[redacted] now',
    ],
    ['POST discord.com/api/webhooks/12/abc', 'POST discord.com/api/webhooks/[redacted]'],
    [
      'https://x.webhook.office.com/webhookb2/a@b/c',
      'https://x.webhook.office.com/webhookb2/[redacted]',
    ],
    ['postgres://u:p/a@s@w@host:5432/db', 'postgres://u:[redacted]@host:5432/db'],
    ['-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\nx', '[redacted]\nx'],
    ['-----BEGIN PRIVATE KEY-----\\nMIIE', '[redacted]'],
    ['mysql: password=hunter2, user=x', 'mysql: password=[redacted], user=x'],
    ['PGPASSWORD=12345 psql', 'PGPASSWORD=[redacted] psql'],
    ["pwd: 'a b' rest", "pwd: '[redacted]' rest"],
    ['x-api-key: abc', 'x-api-key: [redacted]'],
    ['curl -H "Authorization: Token abc def" x', 'curl -H "Authorization: Token [redacted]" x'],
    ['set-cookie: sid=1; Path=/\nhost: x', 'set-cookie: [redacted]\nhost: x'],
    ['{"user":"u","password":"a\\"b","n":1}', '{"user":"u","password":"[redacted]","n":1}'],
    ['"{\\"token\\":\\"abc\\",\\"n\\":1}"', '"{\\"token\\":\\"[redacted]\\",\\"n\\":1}"'],
    ['{"tokens":["a","b"],"n":1}', '{"tokens":[redacted],"n":1}'],
    ['tokens: 15, pass: true', 'tokens: 15, pass: true'],
    ['the author: Ann, compass: north', 'the author: Ann, compass: north'],
    ['a bearer of news, basic facts', 'a bearer of news, basic facts'],
    ['https://host:8080/a@b', 'https://host:8080/a@b'],
  ])('%s', (text, expected) => {
    expect(redactText(text)).toBe(expected)
  })
})

describe('the work is bounded', () => {
  const hostile = [
    'eyJa-',
    '-eyJaaaaaaaa',
    'sk-',
    '://a:',
    '://a:b@',
    '?token',
    '?a=',
    'bearer ',
    ' ',
    'a',
    'a-',

    'password=',
    'password="',
    'password=\\"',
    '-----BEGIN PRIVATE KEY-----',
    '-----BEGIN ',
    '\\',
    'token:[',
    '1234567890:AA',
    'hooks.slack.com/services/',
    'cookie: a\n',
    'authorization: ',
  ]
  const sizes = [131_072, 1_048_576]

  test.each(sizes.flatMap((size) => hostile.map((piece) => ({ size, piece }))))(
    '$size characters of $piece',
    ({ size, piece }) => {
      const text = piece.repeat(Math.ceil(size / piece.length))
      const times = [1, 2, 3].map(() => {
        const before = process.threadCpuUsage()
        expect(redactText(text).length).toBeLessThan(70_000)
        const { user, system } = process.threadCpuUsage(before)
        return (user + system) / 1000
      })
      expect(Math.min(...times)).toBeLessThanOrEqual(50)
    },
  )

  test('of a line with many values', () => {
    const row = Array.from({ length: 200 }, () => 'x'.repeat(1000))
    const wide = Array.from({ length: 200 }, () => Array.from({ length: 200 }, () => row))
    const text = JSON.stringify(fields({ wide }))
    expect(text).toContain('more characters]')
    expect(text.length).toBeLessThan(1_000_000)
  })

  test('a credential at the cut leaves no half', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 60 }), (shift) => {
        const text = `${'x '.repeat(16_350)}${'y'.repeat(shift)} sk-${'a'.repeat(40)} rest`
        expect(redactText(text + 'z '.repeat(1000))).not.toMatch(/sk-/)
      }),
    )
  })
})

/** What the password in a URL is, said in one pattern, whose cost is 512 times the text. */
const URL_PASSWORD = /(:\/\/[^\s/:@"]{0,256}):(?!\d{1,5}[/?#])[^\s"]{1,512}@/g

test('passwords in URLs are found wherever a pattern would find them: property', () => {
  const piece = fc.constantFrom('://', ':', '@', 'u', '/', ' ', '"', '80/', 'p'.repeat(300), 'é')
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
      const text = pieces.join('')
      expect(hideUrlPasswords(text)).toBe(text.replaceAll(URL_PASSWORD, '$1:[redacted]@'))
    }),
    { numRuns: 1000 },
  )
})
