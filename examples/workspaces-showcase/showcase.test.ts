import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'

const program = join(import.meta.dirname, 'main.ts')
const lastLine = 'ok: the session was killed in one process and completed in another\n'

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
      'round 3',
      '✂ kill -9',
      'it may have taken effect or not',
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

  test('keeps its files in a Durable Object whose workerd is killed', () => {
    const { stdout, stderr, status } = play([], { WORKSPACE: 'cloudflare-filestore' })
    expect([stderr, status]).toEqual(['', 0])
    const story = [
      'workspace cloudflare-filestore',
      'checkout_package',
      '▸ box.edit_file /ms/index.js',
      'There is no shell here',
      '✂ kill -9',
      'the object goes on by itself',
      '✓ box.grep',
      'without a shell I could not test it',
      'receipt created',
      'receipt reattached',
      lastLine,
    ]
    expect(story.filter((text) => !stdout.includes(text))).toEqual([])
    // The step that was cut off is not seen twice, and nothing before it is.
    expect(stdout.match(/▸ box\.edit_file/g)).toHaveLength(5)
  }, 120_000)

  test('says that cloudflare-sandbox is not there', () => {
    const { stdout, stderr, status } = play(['--provider', 'cloudflare-sandbox'])
    const available = 'available: in-memory, local-bash, cloudflare-filestore'
    expect([stdout, stderr, status]).toEqual([
      '',
      `the workspace cloudflare-sandbox is not available yet; ${available}\n`,
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
