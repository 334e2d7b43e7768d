import { FleetError } from '@helix-agents/core/runtime'
import { beforeEach, describe, expect, it } from 'vitest'
import { SampleFleet, TOKEN, URL_OF_FLEET } from './sample-fleet.ts'

let sample: SampleFleet
beforeEach(() => {
  sample = new SampleFleet()
})

describe('helix fleet stats', () => {
  it('tells numbers and that there is no alert', async () => {
    await sample.add('sb-1')
    const { code, out, err } = await sample.host.run(['fleet', 'stats'])
    expect(out.split('\n')).toEqual([
      'environment   test',
      'active        1 of 10',
      'provisioning  0',
      'running       1',
      'detached      0',
      'terminating   0',
      'failed        0',
      'created       1',
      'destroyed     0',
      'timeouts      0 of 1 operations',
      'last cleanup  never',
      'no alerts',
      '',
    ])
    expect([code, err]).toEqual([0, ''])
  })
  it('tells alerts, and ends with 1', async () => {
    await sample.add('sb-1')
    await sample.later(16)
    const { code, out } = await sample.host.run(['fleet', 'stats'])
    expect([code, out.includes('alert: sandbox_cleanup_not_running\n')]).toEqual([1, true])
    expect(await sample.host.json(['fleet', 'stats'])).toMatchObject({
      active: 1,
      last_cleanup_at: null,
      alerts: ['sandbox_cleanup_not_running'],
    })
  })
  it('looks again and again, through trouble, until nobody reads', async () => {
    const { host } = sample
    const answer = host.fetch
    let looks = 0
    host.fetch = async (input, init) => {
      if (new URL(new Request(input).url).pathname.endsWith('/stats')) looks += 1
      return looks === 2 ? new Response('', { status: 502 }) : answer(input, init)
    }
    host.isOutputClosed = () => looks > 3
    const watched = host.run(['fleet', 'stats', '--watch', '5', '--json'])
    for (let i = 0; i < 3; i += 1) {
      await expect.poll(() => host.clock.pendingTimers).toBe(1)
      await host.clock.advance(5000)
    }
    const { code, out } = await watched
    const lines = out.trim().split('\n')
    expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([
      { at: 1_000_000, active: 0 },
      { at: 1_005_000, unreachable: expect.any(String) },
      { at: 1_010_000, active: 0 },
    ])
    expect(code).toBe(0)
  })
})

describe('helix fleet list', () => {
  it('lists the newest first', async () => {
    await sample.add('sb-1', { agentType: 'implementation', taskId: 'task-7' })
    await sample.later(4)
    await sample.add('sb-2')
    const { code, out } = await sample.host.run(['fleet', 'list'])
    expect(out.split('\n')).toEqual([
      'SANDBOX  STATUS   AGE  IDLE  AGENT           TASK    CPU  MEMORY  FINDINGS',
      'sb-2     running  0ms   0ms  -               -         -       -  no-owner',
      'sb-1     running   4m    4m  implementation  task-7    -       -  no-owner',
      '',
    ])
    expect(code).toBe(0)
  })
  it('tells what is stuck, and ends with 1', async () => {
    await sample.add('sb-1')
    await sample.later(11)
    await sample.add('sb-2')
    const { code, out } = await sample.host.run(['fleet', 'list'])
    expect([code, out.includes('sb-1: stuck: ')]).toEqual([1, true])
    const stuck = await sample.host.json(['fleet', 'list', '--stuck'])
    expect(stuck).toMatchObject({ items: [{ id: 'sb-1', findings: [{ code: 'stuck' }] }] })
  })
  it('tells what is owed, and ends with 1', async () => {
    await sample.addOwed('sb-1')
    const found = await sample.host.json(['fleet', 'list', '--stuck'])
    expect(found).toMatchObject({ items: [{ id: 'sb-1', owed: { attempts: 1 } }] })
    expect((await sample.host.run(['fleet', 'list'])).code).toBe(1)
  })
  it('filters', async () => {
    await sample.add('sb-1', { agentType: 'a' })
    await sample.later(3)
    await sample.add('sb-2', { agentType: 'b', taskId: 't' })
    await sample.fleet.terminate('sb-1')
    const ids = async (...args: string[]) => {
      const found = await sample.host.json(['fleet', 'list', ...args])
      return (found as { items: { id: string }[] }).items.map(({ id }) => id)
    }
    expect(await ids()).toEqual(['sb-2'])
    expect(await ids('--status', 'terminated')).toEqual(['sb-1'])
    expect(await ids('--status', 'all', '--older-than', '2m')).toEqual(['sb-1'])
    expect(await ids('--agent', 'b', '--task', 't')).toEqual(['sb-2'])
    expect(await ids('--tenant', 'nobody')).toEqual([])
  })
  it('pages', async () => {
    for (let i = 1; i <= 3; i += 1) await sample.add(`sb-${i}`)
    const first = await sample.host.run(['fleet', 'list', '--limit', '2'])
    const cursor = /--cursor (?<cursor>\S+)/.exec(first.err)?.groups?.cursor ?? ''
    const rest = await sample.host.json(['fleet', 'list', '--cursor', cursor])
    expect(rest).toMatchObject({ items: [{ id: 'sb-1' }] })
    const { code, err } = await sample.host.run(['fleet', 'list', '--cursor', '!'])
    expect([code, err.includes('invalid-query')]).toEqual([2, true])
  })
  it('follows the pages of the server up to the limit', async () => {
    const count = 205
    const store = sample.fleet.reporter()
    for (let i = 0; i < count; i += 1) store.opened({ id: `sb-${i}`, provider: 'sample' })
    await store.flush()
    const { items } = (await sample.host.json(['fleet', 'list', '--limit', '1000'])) as {
      items: []
    }
    expect(items.length).toBe(count)
    await store.stop()
  })
})

describe('helix fleet show', () => {
  it('tells whose it is, what is wrong and what happened', async () => {
    await sample.add('sb-1', { agentType: 'implementation', taskId: 'task-7' })
    await sample.later(11)
    const { code, out } = await sample.host.run(['fleet', 'show', 'sb-1', '--resources'])
    expect(out).toMatch(/^agent +implementation$/m)
    expect(out).toMatch(/^cpu +99%$/m)
    expect(out).toMatch(/^sb-1: stuck: /m)
    expect(out).toMatch(/^1970-01-01T00:16:40Z +0ms +\w+ +provisioning/m)
    expect(code).toBe(1)
  })
  it('gives it as JSON', async () => {
    await sample.addOwed('sb-1')
    expect(await sample.host.json(['fleet', 'show', 'sb-1', '--resources'])).toMatchObject({
      id: 'sb-1',
      status: 'terminating',
      kill_reason: 'operator',
      owed: { attempts: 1 },
      resources: { cpu_percent: 99.4, memory_mb: 120, operations: 1 },
    })
  })
  it.each([
    ['nobody', 3],
    ['not an id', 2],
    ['..', 2],
    ['', 2],
  ])('ends for %j with %i', async (id, code) => {
    expect(await sample.host.run(['fleet', 'show', id])).toMatchObject({ code, out: '' })
  })
})

describe('helix fleet logs', () => {
  it('prints the lines', async () => {
    await sample.add('sb-1')
    const ran = await sample.host.run(['fleet', 'logs', 'sb-1'])
    expect(ran).toEqual({ code: 0, out: 'first line\nsecond line\n', err: '' })
    expect(await sample.host.json(['fleet', 'logs', 'sb-1'])).toMatchObject({
      lines: ['first line', 'second line'],
    })
  })
  it('lets no line of a sandbox act upon the terminal', async () => {
    await sample.add('sb-1')
    sample.driver.output = 'a\u001b[2Jb\n'
    expect((await sample.host.run(['fleet', 'logs', 'sb-1'])).out).toBe('a\\x1b[2Jb\n')
  })
})

describe('a fleet over HTTP', () => {
  it('is asked with the token below the path it is mounted at', async () => {
    await sample.host.run(['fleet', 'list', '--agent', 'a&b'])
    const [request] = sample.requests
    expect(request?.url).toBe(`${URL_OF_FLEET}/api/sandbox/list?agent_type=a%26b&limit=50`)
    expect(request?.headers.get('authorization')).toBe(`Bearer ${TOKEN}`)
    expect(request?.redirect).toBe('manual')
  })
  it('gets the token from stdin', async () => {
    sample.host.env = { HELIX_FLEET_URL: URL_OF_FLEET }
    sample.host.input = `${TOKEN}\n`
    const args = ['fleet', 'stats', '--token-file', '-']
    expect(await sample.host.run(args)).toMatchObject({ code: 0 })
    sample.host.input = '\n'
    expect(await sample.host.run(args)).toMatchObject({ code: 2, out: '' })
  })
  it.each([
    [undefined, 3],
    ['another-token-of-somebody', 3],
    ['a secret\nof two lines', 2],
  ])('does not tell the token %j', async (token, code) => {
    sample.host.env = { HELIX_FLEET_URL: URL_OF_FLEET, ...(token && { HELIX_FLEET_TOKEN: token }) }
    const ran = await sample.host.run(['fleet', 'stats'])
    expect(ran).toMatchObject({ code, out: '' })
    expect(ran.err).not.toMatch(/another|secret/)
  })
  it.each([
    ['a redirect', () => new Response(null, { status: 302, headers: { location: 'http://x' } })],
    ['a page', () => new Response('<html>')],
    ['another JSON', () => Response.json({ status: 'ok' })],
    ['no such address', () => new Response('', { status: 404 })],
    [
      'an error of the ledger',
      () => Response.json({ error: { code: 'unavailable', message: 'x' } }, { status: 503 }),
    ],
    ['too much', () => new Response('x'.repeat(33 * 1024 * 1024))],
    ['no network', () => Promise.reject(new TypeError('fetch failed'))],
  ])('ends with 3 for %s', async (_, respond) => {
    sample.host.fetch = async () => respond()
    expect(await sample.host.run(['fleet', 'stats'])).toMatchObject({ code: 3, out: '' })
  })
  it.each([
    ['no address', []],
    ['a path', ['--url', '/fleet']],
    ['another protocol', ['--url', 'file:///etc/passwd']],
    ['a password', ['--url', 'http://user:pass@localhost']],
    ['a user', ['--url', 'http://user@localhost']],
    ['a password without a user', ['--url', 'http://:pass@localhost']],
    ['two fleets', ['--url', URL_OF_FLEET, '--db', 'fleet.db']],
    ['a label without a ledger', ['--url', URL_OF_FLEET, '--environment', 'test']],
    ['a token on the command line', ['--token', TOKEN]],
    ['a file that is not there', ['--url', URL_OF_FLEET, '--token-file', '/nowhere/token']],
  ])('ends with 2 for %s', async (_, args) => {
    sample.host.env = {}
    expect(await sample.host.run(['fleet', 'stats', ...args])).toMatchObject({ code: 2, out: '' })
    expect(sample.requests).toEqual([])
  })
})

describe('a ledger', () => {
  it('is read without a server, and closed', async () => {
    await sample.add('sb-1')
    await sample.later(11)
    sample.host.env = {}
    const db = ['--db', 'fleet.db']
    expect((await sample.host.run(['fleet', 'stats', ...db])).out).toContain('active        1\n')
    expect(await sample.host.json(['fleet', 'list', ...db])).toMatchObject({
      items: [{ id: 'sb-1', environment: 'test' }],
    })
    expect(await sample.host.run(['fleet', 'show', 'sb-1', ...db])).toMatchObject({ code: 1 })
    expect(await sample.host.run(['fleet', 'show', 'nobody', ...db])).toMatchObject({ code: 3 })
    expect(sample.requests).toEqual([])
    expect([sample.host.opened.length, sample.host.closed]).toEqual([4, 4])
  })
  it('shows the deployment that is asked for', async () => {
    await sample.add('sb-1')
    const args = ['fleet', 'list', '--db', 'fleet.db', '--environment']
    expect(await sample.host.json([...args, 'test'])).toMatchObject({ items: [{ id: 'sb-1' }] })
    expect(await sample.host.json([...args, 'production'])).toMatchObject({ items: [] })
  })
  it('is not changed by a look', async () => {
    const writes: string[] = []
    const { store } = sample
    sample.host.fleetStore = new Proxy(store, {
      get: (target, name: keyof typeof store) => {
        if (
          ['create', 'update', 'writeState', 'acquireLease', 'addUsage', 'prune'].includes(name)
        ) {
          writes.push(name)
        }
        return (target[name] as (...args: unknown[]) => unknown).bind(target)
      },
    })
    const { code } = await sample.host.run(['fleet', 'stats', '--db', 'fleet.db'])
    expect([code, writes]).toEqual([0, []])
  })
  it.each([
    ['unavailable', 3],
    ['schema-version', 3],
    ['corrupt', 1],
  ] as const)('that fails as %s ends with %i and says so, closed', async (code, exitCode) => {
    sample.store.list = async () => Promise.reject(new FleetError(code, 'no', { hint: 'Wait.' }))
    const ended = await sample.host.run(['fleet', 'stats', '--db', 'fleet.db'])
    expect(ended).toMatchObject({ code: exitCode, out: '' })
    expect(ended.err).toContain(`fleet.db: no (${code})\n`)
    expect(ended.err).toContain('Wait.\n')
    expect(sample.host.closed).toBe(1)
  })
  it.each([['logs', 'sb-1'], ['terminate', 'sb-1'], ['cleanup'], ['emergency'], ['reconcile']])(
    'is not enough to %s',
    async (...args) => {
      expect((await sample.host.run(['fleet', ...args, '--db', 'fleet.db'])).code).toBe(2)
    },
  )
})
