import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { chooseSandboxEngine } from './sandbox-engine.ts'

const engine = await chooseSandboxEngine()
const skipNote = engine.name === undefined ? ` (skipped: ${engine.reason})` : ''

const program = join(import.meta.dirname, 'main.ts')
const lastLine = 'ok: the session was killed in one process and completed in another\n'

function play(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  return spawnSync(process.execPath, ['--conditions=@helix-agents/source', program, ...args], {
    encoding: 'utf8',
    env: { ...process.env, ...env },
  })
}

const hasScript = spawnSync('script', ['--version']).status === 0

/** Presses a key each time the program waits for one. */
async function playOnTerminal(key: string) {
  const command = `'${process.execPath}' --conditions=@helix-agents/source '${program}'`
  const child = spawn('script', ['-qec', command, '/dev/null'], {
    env: { ...process.env, WORKSPACE: 'local-bash', MODEL: '' },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const ended = once(child, 'exit')
  let text = ''
  let pressed = 0
  for await (const piece of child.stdout.setEncoding('utf8')) {
    text += String(piece)
    const prompts = text.split('Approve? y or Enter').length - 1
    for (; pressed < prompts; pressed += 1) child.stdin.write(key)
  }
  const [code] = (await ended) as [number | null]
  return { text, code }
}

const absent = (reason: string) => async () =>
  ({ available: false, problem: 'absent', reason }) as const
const docker = async () =>
  ({ available: true, socketPath: '/socket', image: 'some:1', transports: ['rpc'] }) as const

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
      'what the last two steps changed',
      '+var mo = 30;',
      'back two steps, with the files',
      'moved to local-bash',
      'moved to a Durable Object',
      'those of 11 paths are in the receipt',
      'it goes on there',
      'digest of contents',
      'receipt created',
      'waits  npm publish --dry-run',
      'no terminal: the script of the demo approves',
      'approved by script',
      '+ ms@',
      'published, as far as a dry run goes',
      'receipt reattached',
      lastLine,
    ]
    expect(story.filter((text) => !stdout.includes(text))).toEqual([])
    expect(stdout).not.toContain('\u001B')
  }, 120_000)

  test('checks with code in memory, and tells that the files are gone', () => {
    const { stdout, stderr, status } = play([], { WORKSPACE: 'in-memory' })
    expect([stderr, status]).toEqual(['', 0])
    const story = [
      '✓ box.snapshot',
      '✗ box.run_code',
      'months: every check passed',
      '✓ box.run ',
      '+var mo = y / 12;',
      'receipt cold',
    ]
    expect(story.filter((text) => !stdout.includes(text))).toEqual([])
    expect(stdout.endsWith(lastLine)).toBe(true)
  }, 60_000)

  // Skipped, with this title, where the program `script` is not: it makes the terminal.
  test.skipIf(!hasScript)(
    'waits on a terminal for a key before it publishes (needs script)',
    async () => {
      const { text, code } = await playOnTerminal('y')
      const story = ['approved by terminal', '+ ms@', 'killed in one process']
      expect([story.filter((one) => !text.includes(one)), code]).toEqual([[], 0])
    },
    120_000,
  )

  test('keeps its files in a Durable Object whose workerd is killed', () => {
    const { stdout, stderr, status } = play([], { WORKSPACE: 'cloudflare-filestore' })
    expect([stderr, status]).toEqual(['', 0])
    const story = [
      'workspace cloudflare-filestore',
      'checkout_package',
      '✓ box.snapshot',
      '▸ box.edit_file /ms/index.js',
      '✗ box.run_code',
      'two months are written as "61 days"',
      'months: every check passed',
      'Green, without a process',
      '✂ kill -9',
      'the object resumes by itself',
      '✓ box.run_code',
      'checked without a container',
      'receipt created',
      'receipt reattached',
      lastLine,
    ]
    expect(story.filter((text) => !stdout.includes(text))).toEqual([])
    // The step that was cut off is not seen twice, and nothing before it is.
    expect(stdout.match(/▸ box\.edit_file/g)).toHaveLength(5)
  }, 120_000)

  test.skipIf(engine.name === undefined)(
    `brings a snapshot back into a container that lost its disk${skipNote}`,
    () => {
      const { stdout, stderr, status } = play([], { WORKSPACE: 'cloudflare-sandbox' })
      expect([stderr, status]).toEqual(['', 0])
      const story = [
        'containers: ',
        'workspace cloudflare-sandbox',
        "+ '61 days'",
        'months: every check passed',
        '✓ box.snapshot',
        'round 3',
        '✂ kill -9',
        'it may have taken effect or not',
        '+var mo = y / 12;',
        'receipt created',
        lastLine,
      ]
      const ofPrivateRoots = [
        'The disk is gone, and what the snapshot had is back.',
        'receipt restored',
      ]
      const expected = engine.name === 'local' ? [...story, ...ofPrivateRoots] : story
      expect(expected.filter((text) => !stdout.includes(text))).toEqual([])
    },
    120_000,
  )

  test('takes a container engine where one is, and says why nothing runs containers', async () => {
    const [none, some] = [absent('no engine'), absent('no private root')]
    expect(await chooseSandboxEngine({ docker, local: some })).toMatchObject({ name: 'docker' })
    expect(await chooseSandboxEngine({ docker: none, local: some })).toEqual({
      name: undefined,
      reason: 'no private root; no engine',
    })
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
