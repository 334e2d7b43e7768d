// What a server answers is shown, never obeyed: whatever bytes, names and numbers it sends.
import { describe, expect, it } from 'vitest'
import { DANGEROUS, TestHost } from '../../test-host.ts'

const EVIL = 'a\u001B]0;x\u0007\u202E\nhelix: ok\u{E0100}'
/** Colours are the program's own. */
const COLOURS = new RegExp(String.raw`\u001B\[\d+m`, 'g')
const at = '2026-01-01T00:00:00Z'
const URL_ARGS = ['--url', 'http://fleet.test']

function sandbox(fields: object = {}): object {
  return {
    id: EVIL,
    provider: EVIL,
    status: EVIL,
    created_at: EVIL,
    age_minutes: 1e308,
    idle_minutes: -1e308,
    agent_type: EVIL,
    task_id: '__proto__',
    session_id: 'constructor',
    tenant: EVIL,
    operations: 1e308,
    cpu_percent: 1e308,
    memory_mb: -1,
    kill_reason: EVIL,
    kill_detail: EVIL,
    owed: { since: EVIL, attempts: 1e308, next_attempt_at: EVIL },
    last_error: { code: EVIL, message: EVIL, cause: EVIL },
    findings: [{ code: EVIL, severity: 'critical', reason: EVIL, action: EVIL }],
    history: [{ at: EVIL, event: EVIL, status: EVIL, detail: EVIL }],
    ...fields,
  }
}

const PASS = {
  pass: EVIL,
  dry_run: true,
  outcome: EVIL,
  items: [{ id: EVIL, provider: EVIL, action: EVIL, reason: EVIL, outcome: 'constructor' }],
  spared: { [EVIL]: 1, constructor: 2, toString: 3 },
  rejected: [{ provider: EVIL, because: EVIL, detail: EVIL }],
  error: EVIL,
}

const STATS = {
  active: 1e308,
  provisioning: -1,
  terminating: 0,
  total_created: 1,
  total_destroyed: 1,
  environment: EVIL,
  last_cleanup_at: EVIL,
  time: at,
}

const answers: readonly (readonly [string, readonly string[], unknown])[] = [
  ['list', ['list'], [sandbox()]],
  ['show', ['show', 'sb-1'], sandbox()],
  ['logs', ['logs', 'sb-1'], { lines: [EVIL, 'x'.repeat(1_000_000)] }],
  ['terminate', ['terminate', 'sb-1'], { id: EVIL, outcome: EVIL }],
  ['cleanup', ['cleanup'], PASS],
  ['reconcile', ['reconcile', '--dry-run'], PASS],
  ['stats', ['stats'], STATS],
]

describe.each(answers)('helix fleet %s', (_, args, body) => {
  async function run(text: string | Uint8Array<ArrayBuffer>, ...flags: readonly string[]) {
    const host = new TestHost()
    host.fetch = async () =>
      new Response(text, { headers: { 'content-type': 'text/html; charset=utf-16' } })
    return host.run(['fleet', ...args, ...URL_ARGS, ...flags], { isTTY: true, columns: 100 })
  }

  it.each([[], ['--json']])('shows nothing that acts on a terminal (%s)', async (...flags) => {
    const { code, err, out } = await run(JSON.stringify(body), ...flags)
    expect(code).not.toBe(70)
    expect(out + err).not.toMatch(/^helix: ok/m)
    expect((out + err).replaceAll(COLOURS, '')).not.toMatch(DANGEROUS)
  })

  it.each([
    ['bytes that are no text', new Uint8Array([0xff, 0xfe, 0x00, 0x22])],
    ['a text that never closes', '['.repeat(100_000)],
    ['names of the prototype', '{"__proto__":{"active":1},"constructor":null}'],
    ['null', 'null'],
    ['a number', '1e999'],
  ])('says of %s that this is not a fleet', async (_what, text) => {
    const { code, err, out } = await run(text)
    expect([code, out + err]).toEqual([3, expect.stringContaining('this is not a fleet')])
  })
})

it('pages that never end stop at the limit', async () => {
  const host = new TestHost()
  let calls = 0
  host.fetch = async () => {
    calls += 1
    const link = '<http://elsewhere.test/x?cursor=again>; rel="next"'
    return Response.json([sandbox({ id: `sb-${calls}` })], { headers: { link } })
  }
  await host.run(['fleet', 'list', ...URL_ARGS, '--limit', '5'])
  expect(calls).toBeLessThanOrEqual(5)
})
