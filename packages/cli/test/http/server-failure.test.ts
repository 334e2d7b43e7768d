import { describe, expect, it } from 'vitest'
import { DANGEROUS, TestHost } from '../test-host.ts'

const FLEET = ['fleet', 'stats', '--url', 'http://fleet.test']
const HEALTH = ['healthz', 'http://agents.test/healthz/s1']

async function answered(args: readonly string[], status: number, error: unknown): Promise<string> {
  const host = new TestHost()
  host.fetch = async () => Response.json({ error }, { status })
  return (await host.run(args)).err
}

describe.each([FLEET, HEALTH])('an error that a server answers to helix %s', (...args) => {
  it('is printed with its details', async () => {
    const details = { issues: [{ path: 'limit', message: 'too large' }] }
    const err = await answered(args, 400, { code: 'invalid-query', message: 'limit', details })
    expect(err).toContain('limit (invalid-query, HTTP 400)\n')
    expect(err).toContain('\n  details: {"issues":[{"path":"limit","message":"too large"}]}\n')
  })
  it('tells no secret', async () => {
    const details = { authorization: 'Bearer abc', note: 'password=hunter2secret' }
    const message = 'the key sk-proj-abcdefghijklmnopqrstuvwxyz012345 is wrong'
    const err = await answered(args, 500, { code: 'internal', message, details })
    expect(err).toContain('details: {')
    expect(err).not.toMatch(/abc\b|hunter2|abcdefghijkl/)
  })
  it('acts on no terminal, and looks like no line of the program', async () => {
    const text = 'a\nhelix: ok\u001B[2J\u202E\u{E0100}'
    const details = { [text]: text, ['__proto__']: { constructor: text } }
    const err = await answered(args, 500, { code: text, message: text, details })
    expect(err.trimEnd().split('\n')).toHaveLength(2)
    expect(err).not.toMatch(DANGEROUS)
    expect(err).not.toMatch(/^helix: ok/m)
  })
  it('is short, however much a server says', async () => {
    const long = 'x'.repeat(20_000)
    const details = Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`k${at}`, long]))
    const err = await answered(args, 500, { code: long, message: long, details })
    expect(err.length).toBeLessThan(6000)
  })
  it('may have no details', async () => {
    expect(await answered(args, 500, { code: 'internal', message: 'no' })).not.toContain('details')
  })
})

it.each([
  [
    'fleet list',
    ['fleet', 'list', '--url', 'http://fleet.test'],
    Array.from({ length: 5000 }, () => ({})),
  ],
  ['healthz', HEALTH, { workspaces: Array.from({ length: 5000 }, () => ({})) }],
])('%s names some of very many things that are wrong with an answer', async (_, args, body) => {
  const host = new TestHost()
  host.fetch = async () => Response.json(body)
  const { code, err } = await host.run(args)
  expect(code).toBe(3)
  expect(err).toMatch(/… and \d+ more\n$/)
  expect(err.length).toBeLessThan(3000)
})
