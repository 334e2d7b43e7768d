// Each incident of the two runbooks with commands, walked with nothing but the page: somebody types
// what stands there, in order, and sees what the page says. The walks that need a shell are in
// `walks.test.ts`; the drills of the pages run with the docs.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { noopLogger, systemClock, StateStoreError } from '@helix-agents/core'
import { Fleet } from '@helix-agents/sandbox-fleet'
import { createConsoleLogger } from '@helix-agents/telemetry/console'
import { LocalBashWorkspaceProvider } from '@helix-agents/workspace-local-bash'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { SampleFleet, TOKEN, URL_OF_FLEET } from './commands/fleet/sample-fleet.ts'
import { addSession } from './commands/sessions/sample-sessions.ts'
import { commandsOf, inlineCommandsOf } from './runbook-page.ts'
import type { Ran } from './test-host.ts'

const RUNBOOK = 'fleet-runbook.md'
const OPERATING = 'operating.md'

let sample: SampleFleet
beforeEach(() => {
  sample = new SampleFleet()
  sample.host.hasPerson = true
  sample.host.input = 'yes\n'
})

/** One line of a page: `helix …`, or `fleet …`, which is `curl` with the token. */
async function type(line: string): Promise<Ran> {
  const words = [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain)
  const [program, ...args] = words.map((word) =>
    String(word).replaceAll('<id>', 's-1').replace('$HELIX_FLEET_URL', URL_OF_FLEET),
  )
  if (program === 'helix') return sample.host.run(args)
  expect(program).toBe('fleet')
  const method = args[0] === '-X' ? args[1] : 'GET'
  const headers = { authorization: `Bearer ${TOKEN}` }
  const answer = await sample.host.fetch(String(args.at(-1)), { method: method ?? '', headers })
  return { code: answer.ok ? 0 : 22, out: await answer.text(), err: '' }
}

/** The lines of a section that begin with these words. */
function linesOf(section: string, ...programs: readonly string[]): string[] {
  const lines = commandsOf(RUNBOOK, section)
  return lines.filter((line) => programs.some((program) => line.startsWith(`${program} `)))
}

describe('the runbook of the fleet', () => {
  it('first look', async () => {
    await sample.add('sandbox_123', { taskId: 'task-7' })
    await sample.later(11)
    await sample.add('sandbox_124')
    const [stats = '', all = '', old = '', one = '', logs = '', resources = ''] = linesOf(
      'First look',
      'fleet',
    )
    expect(JSON.parse((await type(stats)).out)).toMatchObject({ active: 2, last_cleanup_at: null })
    const idsOf = async (line: string) =>
      (JSON.parse((await type(line)).out) as { id: string }[]).map(({ id }) => id)
    expect(await idsOf(all)).toEqual(['sandbox_124', 'sandbox_123'])
    expect(await idsOf(old)).toEqual(['sandbox_123'])
    const shown = JSON.parse((await type(one)).out) as { findings: { code: string }[] }
    expect(shown.findings.map(({ code }) => code)).toEqual(['stuck'])
    expect(JSON.parse((await type(logs)).out)).toMatchObject({
      lines: ['first line', 'second line'],
    })
    const [busy] = [JSON.parse((await type(resources)).out) as { cpu_percent: number }]
    expect(Math.round(busy.cpu_percent / 10)).toBe(10)
    const [watch = '', stuck = '', show = ''] = linesOf('First look', 'helix')
    expect(await type(stuck)).toMatchObject({ code: 1, out: expect.stringContaining('stuck') })
    expect((await type(show)).out).toMatch(/task-7[\s\S]*stuck/)
    await watched(watch)
  })

  it('does cleanup run? the log says so', async () => {
    const log: string[] = []
    const logger = createConsoleLogger({ console: recordingConsole(log) })
    const { clock } = sample.host
    const { driver, store } = sample
    const parts = { store, drivers: [driver], environment: 'test', clock, logger }
    await sample.add('sandbox_123')
    await sample.later(11)
    await new Fleet(parts).tick()
    const tails = commandsOf(RUNBOOK).filter((line) => line.startsWith('wrangler tail'))
    expect(tails).toHaveLength(2)
    for (const line of tails) {
      const script = line.replace('wrangler tail my-worker', 'cat')
      const { stdout } = spawnSync('bash', ['-c', script], { input: log.join('\n') })
      expect(String(stdout)).toContain('Cleaned up sandbox_123')
    }
    expect(log.join('\n')).toMatch(
      /cleanup started[\s\S]*Found 1 sandboxes to cleanup[\s\S]*Cleanup completed/,
    )
  })

  it('something runs for ever', async () => {
    await sample.add('sandbox_123')
    const [end = '', terminate = ''] = linesOf('Something runs for ever', 'fleet', 'helix')
    expect(JSON.parse((await type(end)).out)).toEqual({ id: 'sandbox_123', outcome: 'destroyed' })
    expect(await type(terminate)).toMatchObject({ code: 0, out: expect.stringContaining('gone') })
    expect((await sample.fleet.get('sandbox_123')).kill?.detail).toBe('busy loop')
  })

  it('ledger and provider disagree', async () => {
    await sample.add('lost')
    await sample.later(11)
    sample.driver.present.delete('lost')
    sample.driver.present.add('unknown')
    const section = 'Ledger and provider disagree'
    const [plan = '', reconcile = '', again = ''] = linesOf(section, 'fleet', 'helix')
    const outcomes = async (line: string) => {
      const { items } = JSON.parse((await type(line)).out) as {
        items: { id: string; outcome: string }[]
      }
      return Object.fromEntries(items.map(({ id, outcome }) => [id, outcome]))
    }
    expect(await outcomes(plan)).toEqual({ lost: 'planned', unknown: 'planned' })
    // Whether an owner runs cannot be told here: it is only adopted.
    expect(await outcomes(reconcile)).toEqual({ lost: 'healed', unknown: 'adopted' })
    expect(await type(again)).toMatchObject({ code: 0, err: expect.stringContaining('nothing') })
  })

  it('no room is left', async () => {
    for (let at = 0; at < 10; at += 1) await sample.add(`sandbox_${at}`)
    const request = { id: 'one-more', provider: 'sample' }
    const open = sample.fleet.admission.open(request, async () => undefined)
    await expect(open).rejects.toThrow('Maximum sandbox limit reached')
    await sample.later(3)
    const [plan = '', end = '', helix = ''] = linesOf('No room is left', 'fleet', 'helix')
    expect((JSON.parse((await type(plan)).out) as { items: object[] }).items).toHaveLength(10)
    expect(sample.driver.present.size).toBe(10)
    await type(end)
    expect(sample.driver.present.size).toBe(0)
    expect((await type(helix)).code).toBe(0)
  })

  it('ending one by hand, and is it over?', async () => {
    await sample.add('sandbox_123')
    await sample.later(12)
    const [which = '', show = '', end = '', stats = ''] = linesOf('Ending one by hand', 'helix')
    expect((await type(which)).out).toContain('sandbox_123')
    expect((await type(show)).out).toMatch(/stuck[\s\S]*|cpu/)
    expect((await type(end)).code).toBe(0)
    expect((await type(stats)).out).toMatch(/active +0 of 10/)
    await sample.fleet.cleanup()
    for (const line of inlineCommandsOf(RUNBOOK, 'Is it over?')) {
      expect([line, (await type(line)).code]).toEqual([line, 0])
    }
  })
})

describe('operating', () => {
  it('the first look', async () => {
    const { stateStore } = sample.host
    const failed = { role: 'tool', toolCallId: 'c', toolName: 'workspace__box__ls' } as const
    const messages = [{ ...failed, content: 'Error [provider-failed]: no', isError: true }]
    await addSession(stateStore, { sessionId: 's-1', status: 'completed', messages })
    const error = { code: 'internal', message: 'no' }
    await addSession(stateStore, { sessionId: 's-2', status: 'failed', end: { error } })
    const fetch = sample.host.fetch
    sample.host.fetch = async (input, init) =>
      new Request(input).url.endsWith('/healthz/s-1')
        ? Response.json({ workspaces: [] })
        : fetch(input, init)
    const [runs = '', workspaces = '', show = '', health = ''] = commandsOf(
      OPERATING,
      '# Operating',
    )
    expect((await type(runs)).out).toMatch(/^s-2 /m)
    expect((await type(workspaces)).out).toMatch(/^s-1 .*\n?[\s\S]*provider-failed/m)
    expect((await type(show)).code).toBe(0)
    expect(await type(health)).toMatchObject({
      code: 0,
      out: expect.stringContaining('no signals'),
    })
  })

  it('a backend does not go away', async () => {
    const { stateStore } = sample.host
    const owing = { sessionId: 's-1', status: 'failed', workspaces: ['box'] } as const
    await addSession(stateStore, { ...owing, end: { owed: ['box'] } })
    await addSession(stateStore, { sessionId: 's-2', status: 'completed' })
    await sample.addOwed('sandbox_123')
    const lines = inlineCommandsOf(OPERATING, 'A backend does not go away')
    const [sessions = '', fleet = ''] = lines
    expect((await type(sessions)).out).toMatch(/^s-1 .*1 owed/m)
    expect((await type(sessions)).out).not.toContain('s-2')
    await sample.later(4)
    expect((await type(fleet)).out).toContain('destroy-owed')
  })

  describe('directories fill the disk', () => {
    let root: string
    beforeEach(() => {
      root = mkdtempSync(join(tmpdir(), 'helix-incident-'))
      vi.stubEnv('TMPDIR', root)
    })
    afterEach(() => {
      vi.unstubAllEnvs()
      rmSync(root, { recursive: true, force: true })
    })

    it('says what is live, waiting and dead, and removes what is dead', async () => {
      const provider = new LocalBashWorkspaceProvider()
      const options = { workspace: 'w', capabilities: {}, signal: new AbortController().signal }
      const session = { sessionId: 's', agentType: 'a' }
      const { ws } = await provider.open({ kind: 'local-bash' }, session, {
        ...options,
        logger: noopLogger,
        clock: systemClock,
      })
      const [look = '', reap = ''] = inlineCommandsOf(OPERATING, 'Directories fill the disk')
      expect((await type(look)).out).toContain('a running process uses it')
      expect((await type(reap)).code).toBe(0)
      expect(readdirSync(root)).toHaveLength(1)
      await ws.close()
      expect(readdirSync(root)).toEqual([])
    })
  })

  it('a session does not go on', async () => {
    const { clock, stateStore } = sample.host
    const held = { sessionId: 's-1', status: 'running' } as const
    await addSession(stateStore, { ...held, leaseUntil: clock.now() + 30_000 })
    const section = 'A session does not go on'
    const show = inlineCommandsOf(OPERATING, section).find((line) => line.includes('show')) ?? ''
    const list = inlineCommandsOf(OPERATING, section).find((line) => line.includes('list')) ?? ''
    expect((await type(show)).out).toContain('A process holds it for another 30s')
    await sample.later(1)
    expect((await type(list)).out).toContain('running, lease out')
    expect((await type(show)).out).toMatch(/Its process died[\s\S]*executor\.resume/)
    sample.host.stateStore.loadSession = async () =>
      Promise.reject(new StateStoreError('corrupt', 's-1', 'damaged'))
    expect((await type(show)).err).toContain('(corrupt)')
  })
})

/** Runs a command with `--watch` for two looks; then nobody reads any more. */
async function watched(line: string): Promise<void> {
  const { host } = sample
  let isOver = false
  host.isOutputClosed = () => isOver
  const running = type(line)
  await vi.waitFor(() => expect(host.clock.pendingTimers).toBeGreaterThan(0), { timeout: 60_000 })
  const seconds = Number(/--watch (?<seconds>\d+)/.exec(line)?.groups?.seconds)
  await host.clock.advance(seconds * 1000)
  await vi.waitFor(() => expect(host.clock.pendingTimers).toBeGreaterThan(0), { timeout: 60_000 })
  isOver = true
  await host.clock.advance(seconds * 1000)
  expect((await running).out.match(/^active /gm)).toHaveLength(2)
  host.isOutputClosed = () => false
}

/** What a Worker prints, as `wrangler tail` shows it. */
function recordingConsole(lines: string[]) {
  const print = (...values: readonly unknown[]): void => {
    const texts = values.map((value) => (typeof value === 'string' ? value : JSON.stringify(value)))
    lines.push(`  (log) ${texts.join(' ')}`)
  }
  return { debug: print, info: print, warn: print, error: print }
}
