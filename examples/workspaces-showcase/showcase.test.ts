import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, expect, onTestFinished, test } from 'vitest'
import { chooseSandboxEngine } from './sandbox-engine.ts'

const engine = await chooseSandboxEngine()
const skipNote = engine.name === undefined ? ` (skipped: ${engine.reason})` : ''

const program = join(import.meta.dirname, 'main.ts')
/** Several processes from source, one after the other. */
const LIMIT_MS = 300_000
const lastLine = 'ok: the session was killed in one process and completed in another\n'

async function play(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const words = ['--conditions=@helix-agents/source', program, ...args]
  const child = spawn(process.execPath, words, {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  onTestFinished(() => void child.kill())
  const ended = once(child, 'close')
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)])
  const [status] = (await ended) as [number | null]
  return { stdout, stderr, status }
}

const hasScript = spawnSync('script', ['--version']).status === 0

/** Presses a key each time the program waits for one. */
async function playOnTerminal(key: string) {
  const command = `'${process.execPath}' --conditions=@helix-agents/source '${program}'`
  const child = spawn('script', ['-qec', command, '/dev/null'], {
    env: { ...process.env, WORKSPACE: 'local-bash', MODEL: '', NO_COLOR: '1' },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const ended = once(child, 'exit')
  let shown = ''
  let pressed = 0
  for await (const piece of child.stdout.setEncoding('utf8')) {
    shown += String(piece)
    const prompts = shown.split('Approve? y or Enter').length - 1
    for (; pressed < prompts; pressed += 1) child.stdin.write(key)
  }
  const [code] = (await ended) as [number | null]
  return { shown, code }
}

/** Without `script` no terminal is made, and the script of the demo approves. */
const terminalNote = hasScript ? '; it waits for a key on a terminal' : ' (no key: no script)'

async function playWithout() {
  const { stdout, stderr, status } = await play(['--provider', 'local-bash'])
  expect(stderr).toBe('')
  return { shown: stdout, code: status }
}

/** What the demo tells on local-bash. */
const wholeStory = [
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
  `approved by ${hasScript ? 'terminal' : 'script'}`,
  '+ ms@',
  'published, as far as a dry run goes',
  'receipt reattached',
  lastLine.trimEnd(),
]

const absent = (reason: string) => async () =>
  ({ available: false, problem: 'absent', reason }) as const
const docker = async () =>
  ({ available: true, socketPath: '/socket', image: 'some:1', transports: ['rpc'] }) as const

describe('the showcase', () => {
  test(
    `repairs a package on local-bash, across two processes${terminalNote}`,
    async () => {
      const { shown, code } = hasScript ? await playOnTerminal('y') : await playWithout()
      expect([code, wholeStory.filter((part) => !shown.includes(part))]).toEqual([0, []])
    },
    LIMIT_MS,
  )

  test(
    'checks with code in memory, and tells that the files are gone',
    async () => {
      const { stdout, stderr, status } = await play([], { WORKSPACE: 'in-memory' })
      expect([stderr, status]).toEqual(['', 0])
      const story = [
        '✓ box.snapshot',
        '✗ box.run_code',
        'months: every check passed',
        '✓ box.run ',
        '+var mo = y / 12;',
        'receipt cold',
      ]
      expect(story.filter((part) => !stdout.includes(part))).toEqual([])
      expect(stdout.endsWith(lastLine)).toBe(true)
    },
    LIMIT_MS,
  )

  test(
    'keeps its files in a Durable Object whose workerd is killed',
    async () => {
      const { stdout, stderr, status } = await play([], { WORKSPACE: 'cloudflare-filestore' })
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
      expect(story.filter((part) => !stdout.includes(part))).toEqual([])
      // The step that was cut off is not seen twice, and nothing before it is.
      expect(stdout.match(/▸ box\.edit_file/g)).toHaveLength(5)
    },
    LIMIT_MS,
  )

  test.skipIf(engine.name === undefined)(
    `brings a snapshot back into a container that lost its disk${skipNote}`,
    async () => {
      const { stdout, stderr, status } = await play([], { WORKSPACE: 'cloudflare-sandbox' })
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
      expect(expected.filter((part) => !stdout.includes(part))).toEqual([])
    },
    LIMIT_MS,
  )

  test('takes a container engine where one is, and says why nothing runs containers', async () => {
    const [none, some] = [absent('no engine'), absent('no private root')]
    expect(await chooseSandboxEngine({ docker, local: some })).toMatchObject({ name: 'docker' })
    expect(await chooseSandboxEngine({ docker: none, local: some })).toEqual({
      name: undefined,
      reason: 'no private root; no engine',
    })
  })

  test('names the choices for an unknown workspace', async () => {
    const { stderr, status } = await play(['--provider', 'floppy'])
    expect(stderr).toMatch(/^unknown workspace "floppy"; choose one of in-memory, .*\n$/)
    expect(status).toBe(2)
  })

  test('explains its options', async () => {
    expect(await play(['--help'])).toMatchObject({ stderr: '', status: 0 })
    const { stdout, stderr, status } = await play(['--frobnicate'])
    expect([stdout, status]).toEqual(['', 2])
    expect(stderr).toMatch(/--frobnicate[\s\S]*usage: pnpm demo/)
  })
})
