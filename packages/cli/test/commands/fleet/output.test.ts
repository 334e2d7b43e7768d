// All that is printed of a fleet, to the letter: for people at terminals, and for programs.
import { expect, it } from 'vitest'
import { printedBy } from '../../printed.ts'
import { TestHost } from '../../test-host.ts'
import { TOKEN, URL_OF_FLEET } from './sample-fleet.ts'

const TIME = '2026-01-01T12:00:00.000Z'
const LATER = '2026-01-01T13:30:00.000Z'

const PLAIN = {
  id: 'sandbox-1',
  provider: 'local',
  status: 'running',
  created_at: TIME,
  age_minutes: 90.4,
}
const FULL = {
  ...PLAIN,
  id: 'sandbox-with-a-long-name-2',
  status: 'terminating',
  idle_minutes: 0.5,
  agent_type: 'a-bookkeeper',
  task_id: 'a-task-of-somebody',
  session_id: 'a-session',
  tenant: 'a-tenant',
  critical: true,
  operations: 7,
  timeouts: 2,
  cpu_percent: 99.6,
  memory_mb: 120.4,
  kill_reason: 'idle',
  kill_detail: 'for long',
  owed: { since: TIME, attempts: 3, next_attempt_at: LATER },
  last_error: { code: 'driver-failed', message: 'it did not end', cause: 'the provider is away' },
  findings: [
    { code: 'stuck', severity: 'critical', reason: 'It is stuck.', action: 'End it.' },
    { code: 'no-owner', severity: 'warning', reason: 'Nobody has it.', action: 'Wait.' },
  ],
  history: [
    { at: TIME, event: 'provision', status: 'provisioning' },
    { at: LATER, event: 'terminate', status: 'terminating', detail: 'it was idle for too long' },
  ],
}
const OTHERS = [
  { ...PLAIN, id: 'sandbox-3', status: 'provisioning', findings: FULL.findings.slice(1) },
  { ...PLAIN, id: 'sandbox-4', status: 'failed', cpu_percent: null, memory_mb: null },
  { ...PLAIN, id: 'sandbox-5', status: 'terminated', kill_reason: 'operator' },
  { ...PLAIN, id: 'sandbox-6', status: 'unheard-of', owed: { ...FULL.owed, attempts: 0 } },
  { ...PLAIN, id: 'sandbox-7', owed: FULL.owed },
]

const STATS = {
  active: 5,
  provisioning: 1,
  running: 2,
  detached: 3,
  terminating: 4,
  failed: 5,
  total_created: 60,
  total_destroyed: 70,
  executions: 80,
  timeouts: 9,
  max_concurrent: 10,
  usage: 0.5,
  environment: 'prod',
  last_cleanup_at: TIME,
  time: LATER,
}
const BARE_STATS = {
  active: 1,
  provisioning: 0,
  terminating: 0,
  total_created: 1,
  total_destroyed: 0,
}

const OUTCOMES = ['adopted', 'changed', 'destroyed', 'healed', 'owner-alive', 'owed', 'planned']
const PASS = {
  pass: 'cleanup',
  dry_run: false,
  outcome: 'more',
  items: [...OUTCOMES, 'present', 'spared', 'vanished', 'owed'].map((outcome, index) => ({
    id: `sandbox-${index}`,
    provider: 'local',
    action: 'destroy (idle)',
    reason: 'Nothing has happened in it for a long time.',
    outcome,
  })),
  spared: { leased: 2, young: 1 },
  rejected: [{ provider: 'local', because: 'partial', detail: 'half of it' }],
  error: 'the ledger is away',
}
const FINE_PASS = {
  ...PASS,
  dry_run: true,
  outcome: 'completed',
  items: [],
  spared: {},
  rejected: [],
}

const FIRING = 'helix_fleet_alert_firing{environment="prod",alert="sandbox_leak_detected"} 1\n'

/** A machine whose fleet answers each path so. */
function hostOf(answers: Readonly<Record<string, unknown>>, requests: Set<string>): TestHost {
  const host = new TestHost()
  host.env = { HELIX_FLEET_URL: URL_OF_FLEET, HELIX_FLEET_TOKEN: TOKEN }
  host.fetch = async (input, init) => {
    const { method, url, headers, redirect } = new Request(input, init)
    const { pathname } = new URL(url)
    const sent = ['accept', 'authorization'].map((name) => headers.get(name))
    requests.add(`${[method, url, ...sent, redirect].join(' ')}\n`)
    const answer = answers[pathname.replace(/^\/ops(?:\/api\/sandbox)?\//, '')]
    if (typeof answer === 'string') return new Response(answer)
    if (answer !== undefined) return Response.json(answer)
    return Response.json({ error: { code: 'unknown-sandbox', message: 'no' } }, { status: 404 })
  }
  return host
}

const usage = { cpu_percent: null, memory_mb: 7.6, duration_ms: 5, operations: 1 }

it.each([
  ['stats', ['stats'], { stats: STATS, metrics: FIRING }],
  ['stats-bare', ['stats'], { stats: BARE_STATS, metrics: '' }],
  ['stats-never', ['stats'], { stats: { ...BARE_STATS, last_cleanup_at: null }, metrics: '' }],
  ['list', ['list'], { list: [PLAIN, FULL, ...OTHERS] }],
  ['list-stuck', ['list', '--stuck'], { list: [PLAIN, FULL, ...OTHERS] }],
  ['list-empty', ['list'], { list: [] }],
  [
    'list-filtered',
    'list --status failed --provider p --session s --agent a --task k --tenant n'
      .concat(' --older-than 90s --limit 7 --cursor c')
      .split(' '),
    { list: [] },
  ],
  ['show-plain', ['show', 'a'], { a: PLAIN }],
  ['show-full', ['show', 'a'], { a: FULL }],
  ['show-now', ['show', 'a', '--resources'], { a: FULL, 'a/resources': usage }],
  ['show-ended', ['show', 'a'], { a: { ...OTHERS[2], last_error: { code: 'c', message: 'm' } } }],
  ['show-unknown', ['show', 'a'], {}],
  ['logs', ['logs', 'a'], { 'a/logs': { lines: ['first', 'second'], is_cut: true } }],
  ['logs-empty', ['logs', 'a'], { 'a/logs': { lines: [] } }],
  ['terminate-why', ['terminate', 'a', '--reason', 'why not'], { a: { id: 'a', outcome: 'gone' } }],
  ['cleanup', ['cleanup'], { cleanup: PASS }],
  ['cleanup-fine', ['cleanup', '--dry-run'], { cleanup: { ...FINE_PASS, error: null } }],
  ['emergency', ['emergency', '--yes'], { 'cleanup/emergency': PASS }],
  ['reconcile', ['reconcile'], { reconcile: FINE_PASS }],
  [
    'terminate',
    ['terminate', 'a', 'sandbox-with-a-long-name', 'b', 'c', 'd'],
    Object.fromEntries(
      ['destroyed', 'gone', 'owed'].map((outcome, index) => {
        const id = ['a', 'sandbox-with-a-long-name', 'b'][index] ?? ''
        return [id, { id, outcome }]
      }),
    ),
  ],
])('%s', async (name, args, answers) => {
  const requests = new Set<string>()
  const printed = await printedBy(hostOf(answers, requests), ['fleet', ...args])
  const asked = `=== what was asked\n${[...requests].join('')}`
  await expect(`${printed}\n${asked}`).toMatchFileSnapshot(`printed/${name}.txt`)
})

it('a list has 50 sandboxes at most, unless more are asked for', async () => {
  const requests = new Set<string>()
  await hostOf({ list: [] }, requests).run(['fleet', 'list'])
  expect([...requests].join('')).toContain('limit=50 ')
})
