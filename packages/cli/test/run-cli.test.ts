import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { addSession } from './commands/sessions/sample-sessions.ts'
import { DANGEROUS, TestHost } from './test-host.ts'

const { version } = JSON.parse(
  readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
) as { version: string }

describe('helix', () => {
  it('tells its version', async () => {
    expect(await new TestHost().run(['--version'])).toEqual({
      code: 0,
      out: `${version}\n`,
      err: '',
    })
  })
  it.each([
    [['--help']],
    [['help']],
    [['help', 'reap']],
    [['help', 'init']],
    [['reap', '--help']],
    [['sessions', '--help']],
    [['sessions', 'list', '-h']],
    [['sessions', 'show', '--help']],
    [['healthz', '--help']],
    [['fleet', '--help']],
    [['fleet', 'stats', '--help']],
    [['fleet', 'list', '--help']],
    [['fleet', 'show', '--help']],
    [['fleet', 'logs', '--help']],
    [['fleet', 'terminate', '--help']],
    [['fleet', 'cleanup', '--help']],
    [['fleet', 'emergency', '--help']],
    [['fleet', 'reconcile', '--help']],
  ])('prints help for %j, with lines of 100 columns at most', async (args) => {
    const { code, out, err } = await new TestHost().run(args, { columns: 100 })
    expect([code, err]).toEqual([0, ''])
    expect(out.split('\n').filter((line) => line.length > 100)).toEqual([])
    expect(out).toContain('Examples:\n  helix')
  })
  it.each([
    [[]],
    [['sessions']],
    [['nonsense']],
    [['sessions', 'nonsense']],
    [['--nonsense']],
    [['sessions', 'list', '--nonsense']],
    [['sessions', 'list', 'extra']],
    [['sessions', 'list', '--limit', '0']],
    [['sessions', 'list', '--status', 'odd']],
    [['reap', '--root']],
    [['fleet']],
    [['fleet', 'nonsense']],
    [['fleet', 'list', '--status', 'odd']],
    [['fleet', 'terminate']],
    [['fleet', 'stats', '--timeout', '5']],
    [['help', 'nonsense']],
  ])('does not understand %j', async (args) => {
    const { code, out, err } = await new TestHost().run(args)
    expect([code, out, err !== '']).toEqual([2, '', true])
  })
  it('reports a defect as such', async () => {
    const host = new TestHost()
    host.stateStore.listSessions = async () => Promise.reject(new TypeError('a defect'))
    expect(await host.run(['sessions', 'list'])).toMatchObject({ code: 70, out: '' })
  })
})

describe('colour', () => {
  const list = ['sessions', 'list']
  async function isPainted(host: TestHost, isTTY: boolean): Promise<boolean> {
    const { out } = await host.run(list, { isTTY })
    return out.includes('\x1b[')
  }

  it('is for terminals whose user did not refuse it', async () => {
    const host = new TestHost()
    await addSession(host.stateStore, { sessionId: 's', status: 'failed' })
    expect(await isPainted(host, true)).toBe(true)
    expect(await isPainted(host, false)).toBe(false)
    host.env.NO_COLOR = '1'
    expect(await isPainted(host, true)).toBe(false)
    host.env = { NO_COLOR: '', TERM: 'dumb' }
    expect(await isPainted(host, true)).toBe(false)
  })
})

describe('what a hostile model or server wrote', () => {
  const text = fc
    .array(
      fc.oneof(
        fc.string({ unit: 'binary', maxLength: 8 }),
        fc.constantFrom('\x1b[2J', '\x1b]52;c;x\x07', '\x9b', '\u202e', '\n', '\ud800', '\x1b[8m'),
        fc.constantFrom('\u{E0100}', '\u3164', '\u2800', '\u034F', '\uFE00', '\nhelix: ok'),
      ),
      { maxLength: 4 },
    )
    .map((parts) => parts.join(''))
  const named = text.filter((name) => name !== '' && name !== '__proto__')

  it('never reaches the terminal raw: stored sessions', async () => {
    await fc.assert(
      fc.asyncProperty(named, text, named, fc.boolean(), async (id, content, workspace, isTTY) => {
        const host = new TestHost()
        host.env.NO_COLOR = '1'
        await addSession(host.stateStore, {
          sessionId: `s${id}`,
          agentType: content,
          status: 'completed',
          end: { error: { code: content, message: content } },
          workspaces: [workspace],
          messages: [
            { role: 'user', content },
            { role: 'assistant', content, toolCalls: [{ id, name: content, arguments: content }] },
            { role: 'tool', toolCallId: id, toolName: content, content },
          ],
          journal: [{ toolCallId: id, toolName: content, arguments: content, startedAt: 1 }],
        })
        const show = ['sessions', 'show', `s${id}`, '--checkpoints', '--refs']
        for (const args of [['sessions', 'list'], show, [...show, '--json'], show.with(2, id)]) {
          const { out, err } = await host.run(args, { isTTY })
          expect(out + err).not.toMatch(DANGEROUS)
        }
      }),
      { numRuns: 60 },
    )
  })
  it('never reaches the terminal raw: answers of a server', async () => {
    await fc.assert(
      fc.asyncProperty(text, fc.boolean(), async (hostile, isJson) => {
        const host = new TestHost()
        host.env.NO_COLOR = '1'
        const workspace = {
          name: hostile,
          providerId: hostile,
          state: 'failed',
          stateSince: 0,
          capabilities: {},
          evictions: 0,
          retries: 0,
          lastErrorCode: hostile,
          lastError: hostile,
        }
        const bodies = [{ workspaces: [workspace] }, { workspaces: [{ [hostile]: hostile }] }]
        for (const body of bodies) {
          host.fetch = async () => Response.json(body)
          const args = ['healthz', 'http://localhost/healthz/s', ...(isJson ? ['--json'] : [])]
          const { out, err } = await host.run(args, { isTTY: true })
          expect(out + err).not.toMatch(DANGEROUS)
        }
      }),
    )
  })
  it('never reaches the terminal raw: answers of a fleet', async () => {
    await fc.assert(
      fc.asyncProperty(text, fc.boolean(), async (hostile, isJson) => {
        const host = new TestHost()
        host.env = { NO_COLOR: '1', HELIX_FLEET_URL: 'http://fleet.test' }
        const finding = { code: hostile, severity: 'critical', reason: hostile, action: hostile }
        const time = '2026-01-01T00:00:00.000Z'
        const sandbox = {
          id: hostile,
          status: hostile,
          created_at: time,
          age_minutes: 1,
          agent_type: hostile,
          kill_reason: hostile,
          kill_detail: hostile,
          last_error: { code: hostile, message: hostile },
          findings: [finding],
          history: [{ at: time, event: hostile, status: hostile, detail: hostile }],
        }
        const item = { id: hostile, provider: hostile, action: hostile, reason: hostile }
        const pass = { pass: hostile, dry_run: false, outcome: hostile, error: hostile }
        const rejected = { provider: hostile, because: hostile, detail: hostile }
        const answers: readonly (readonly [string[], unknown])[] = [
          [['list'], [sandbox]],
          [['show', 'sb'], sandbox],
          [['logs', 'sb'], { lines: [hostile] }],
          [['terminate', 'sb'], { id: hostile, outcome: hostile }],
          [
            ['reconcile'],
            { ...pass, items: [{ ...item, outcome: hostile }], rejected: [rejected] },
          ],
        ]
        for (const [args, body] of answers) {
          for (const status of [200, 502]) {
            const failure = { error: { code: hostile, message: hostile } }
            const answer = status === 200 ? body : failure
            host.fetch = async () => Response.json(answer, { status })
            const command = ['fleet', ...args, ...(isJson ? ['--json'] : [])]
            const { out, err } = await host.run(command, { isTTY: true })
            expect(out + err).not.toMatch(DANGEROUS)
            // Only the program itself begins a line with its name.
            expect(err.match(/^helix:/gm)?.length ?? 0).toBeLessThanOrEqual(1)
          }
        }
      }),
    )
  })
  it('a server forges no line of the program', async () => {
    const host = new TestHost()
    host.env = { NO_COLOR: '1', HELIX_FLEET_URL: 'http://fleet.test' }
    const message = 'no such sandbox\nhelix: ok'
    host.fetch = async () => Response.json({ error: { code: 'a', message } }, { status: 409 })
    const { err } = await host.run(['fleet', 'show', 'sb'])
    expect(err.split('\n')).toEqual(['helix: no such sandbox\\nhelix: ok (a, HTTP 409)', ''])
  })
  it('never reaches the terminal raw: the command line itself', async () => {
    await fc.assert(
      fc.asyncProperty(text, async (hostile) => {
        for (const args of [[hostile], ['reap', '--older-than', hostile], ['healthz', hostile]]) {
          const { out, err } = await new TestHost().run(args)
          expect(out + err).not.toMatch(DANGEROUS)
        }
      }),
    )
  })
})
