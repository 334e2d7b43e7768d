import { spawnSync } from 'node:child_process'
import { appendFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openRecordedStore } from './recorded-store.ts'

const program = join(import.meta.dirname, 'main.ts')
const lastLine = 'ok: the session was paused in one process and completed in another\n'

function play(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  return spawnSync(process.execPath, ['--conditions=@helix-agents/source', program, ...args], {
    encoding: 'utf8',
    env: { ...process.env, ...env },
  })
}

describe('the showcase', () => {
  test('repairs a package on local-bash, across two processes', () => {
    const { stdout, stderr, status } = play(['--provider', 'local-bash'])
    expect([stderr, status]).toEqual(['', 0])
    const story = [
      'checkout_package',
      "+ '61 days'",
      '✗ box.run',
      'exit 1',
      'months: every check passed',
      '+var mo = y / 12;',
      'receipt created',
      'receipt reattached',
      lastLine,
    ]
    expect(story.filter((text) => !stdout.includes(text))).toEqual([])
    expect(stdout).not.toContain('\u001B')
  }, 60_000)

  test('does what needs no shell in memory, and tells that the files are gone', () => {
    const { stdout, stderr, status } = play([], { WORKSPACE: 'in-memory' })
    expect([stderr, status]).toEqual(['', 0])
    expect(stdout).toContain('receipt cold')
    expect(stdout.endsWith(lastLine)).toBe(true)
  }, 60_000)

  test.each(['cloudflare-filestore', 'cloudflare-sandbox'])('says that %s is not there', (kind) => {
    const { stdout, stderr, status } = play(['--provider', kind])
    expect([stdout, stderr, status]).toEqual([
      '',
      `the workspace ${kind} is not available yet; available: in-memory, local-bash\n`,
      2,
    ])
  })

  test('names the choices for an unknown workspace', () => {
    const { stderr, status } = play(['--provider', 'floppy'])
    expect(stderr).toMatch(/^unknown workspace "floppy"; choose one of in-memory, .*\n$/)
    expect(status).toBe(2)
  })

  test('explains its options', () => {
    expect(play(['--help'])).toMatchObject({ stderr: '', status: 0 })
    const { stdout, stderr, status } = play(['--frobnicate'])
    expect([stdout, status]).toEqual(['', 2])
    expect(stderr).toMatch(/--frobnicate[\s\S]*usage: pnpm demo/)
  })
})

describe('the recorded store', () => {
  let folder = ''
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'helix-recorded-store-'))
  })
  afterEach(() => rmSync(folder, { recursive: true }))

  const session = { sessionId: 's', agentType: 'a', customState: undefined }

  test('has its sessions again in another process', async () => {
    const file = join(folder, 'session.jsonl')
    const first = await openRecordedStore(file)
    await first.createSession({ ...session, now: 1 })
    await first.beginRun({ sessionId: 's', runId: 'r', leaseMs: 10, now: 2 })
    await first.appendMessages({
      sessionId: 's',
      runId: 'r',
      now: 3,
      messages: [{ role: 'user', content: 'hi' }],
    })
    const second = await openRecordedStore(file)
    expect(await second.loadSession('s')).toEqual(await first.loadSession('s'))
    expect(await second.loadMessages('s')).toEqual(await first.loadMessages('s'))
  })

  test('forgets a change that was cut short, and goes on', async () => {
    const file = join(folder, 'session.jsonl')
    await (await openRecordedStore(file)).createSession({ ...session, now: 1 })
    appendFileSync(file, '{"method":"deleteSess')
    const second = await openRecordedStore(file)
    await second.beginRun({ sessionId: 's', runId: 'r', leaseMs: 10, now: 2 })
    const third = await openRecordedStore(file)
    expect(await third.loadSession('s')).toMatchObject({ status: 'running', runId: 'r' })
    expect(readFileSync(file, 'utf8').split('\n')).toHaveLength(3)
  })

  test('does not record what was refused', async () => {
    const file = join(folder, 'session.jsonl')
    const store = await openRecordedStore(file)
    await store.createSession({ ...session, now: 1 })
    await expect(store.createSession({ ...session, now: 2 })).rejects.toMatchObject({
      code: 'conflict',
    })
    expect(readFileSync(file, 'utf8').trimEnd().split('\n')).toHaveLength(1)
  })
})
