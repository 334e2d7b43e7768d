// The examples with a model behind a real wire: the packages of the AI SDK, HTTP, and a provider in
// miniature that refuses what the real one would refuse.
import { execFile } from 'node:child_process'
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { TestSampler } from '../packages/core/src/testing/test-sampler.ts'
import { anthropicMessages } from '../packages/llm-vercel/test/wire/anthropic-messages.ts'
import { openaiChat } from '../packages/llm-vercel/test/wire/openai-chat.ts'
import { openaiResponses } from '../packages/llm-vercel/test/wire/openai-responses.ts'
import { startWireServer } from '../packages/llm-vercel/test/wire/wire-server.ts'
import { type Brain, KEY, Wire, type WireFormat } from '../packages/llm-vercel/test/wire/wire.ts'
import { storyBrain } from './wire-brain.ts'

const SLOW_MS = 300_000
const root = join(import.meta.dirname, '..')
const lastLine = 'ok: the session was killed in one process and completed in another\n'

interface Speaker {
  readonly name: string
  readonly format: () => WireFormat
  /** How a user names the model and its server. */
  readonly environment: (url: string) => Readonly<Record<string, string>>
}

const speakers: readonly Speaker[] = [
  {
    name: 'openai',
    format: openaiResponses,
    environment: (url) => ({
      MODEL: 'openai/gpt-5-wire',
      OPENAI_API_KEY: KEY,
      OPENAI_BASE_URL: url,
    }),
  },
  {
    name: 'anthropic',
    format: () => anthropicMessages,
    environment: (url) => ({
      MODEL: 'anthropic/claude-wire',
      ANTHROPIC_API_KEY: KEY,
      ANTHROPIC_BASE_URL: url,
    }),
  },
  {
    name: 'a local server',
    format: () => openaiChat,
    environment: (url) => ({ MODEL: 'wire:7b', MODEL_BASE_URL: url, MODEL_API_KEY: KEY }),
  },
]

const places = [
  ['local-bash', { hasShell: true, isDurable: true }],
  ['in-memory', { hasShell: false, isDurable: false }],
] as const
const sampler = new TestSampler()
/** Three processes each: of a sample each place has one speaker. */
const tellers = places.map(([kind]) => sampler.pick(`stories on ${kind}`, speakers, 1))

function storiesOf(speaker: Speaker) {
  return places.filter((_, index) => tellers[index]?.includes(speaker))
}

async function play(speaker: Speaker, brain: Brain, args: readonly string[], cwd = root) {
  const wire = new Wire(speaker.format(), brain)
  const server = await startWireServer(wire)
  const { stdout, stderr } = await run(args, speaker.environment(server.url), cwd)
  await server.close()
  return { wire, stdout, stderr }
}

async function run(
  args: readonly string[],
  variables: Readonly<Record<string, string>>,
  cwd = root,
) {
  const env = { ...process.env, ...variables }
  const node = ['--conditions=@helix-agents/source', ...args]
  const running = promisify(execFile)(process.execPath, node, { cwd, env })
  const done = running.then(({ stdout, stderr }) => ({ stdout, stderr, code: 0 }))
  return done.catch((error: unknown) => error as Output)
}

interface Output {
  readonly stdout: string
  readonly stderr: string
  readonly code: number
}

// Each example is a process of its own, and waits a lot.
describe.concurrent.each(speakers)('with $name', (speaker) => {
  test(
    'the quick start writes its poem',
    async () => {
      const input = JSON.stringify({ path: '/poem.txt', content: 'Wires are red.' })
      const write = { type: 'call', id: 'c1', name: 'workspace__notes__write_file' } as const
      const brain: Brain = (_, index) => ({
        type: 'answer',
        parts:
          index === 0 ? [{ ...write, pieces: [input] }] : [{ type: 'text', pieces: ['Done.'] }],
      })
      const { wire, stdout, stderr } = await play(speaker, brain, ['examples/quick-start/main.ts'])
      expect([stderr, wire.problems]).toEqual(['', []])
      expect(stdout).toMatch(/^model: .*wire.*\nagent finished: completed\n$/)
      expect(JSON.stringify(wire.calls[1]?.messages)).toContain('Wires are red.')
    },
    SLOW_MS,
  )

  test(
    'an agent works in a folder, in twenty lines',
    async () => {
      const cwd = mkdtempSync(join(tmpdir(), 'helix-folder-'))
      const input = JSON.stringify({ command: 'echo "Wires are red." | tee poem.txt' })
      const call = { type: 'call', id: 'c1', name: 'workspace__box__run', pieces: [input] } as const
      const brain: Brain = (_, index) => ({
        type: 'answer',
        parts: index === 0 ? [call] : [{ type: 'text', pieces: ['Done', ' so.'] }],
      })
      const program = join(root, 'examples/quick-start/folder.ts')
      const { wire, stdout, stderr } = await play(speaker, brain, [program], cwd)
      expect([stderr, wire.problems, stdout]).toEqual(['', [], 'Done so.\ncompleted\n'])
      const [poem] = globSync('work/**/poem.txt', { cwd })
      expect(readFileSync(join(cwd, poem ?? ''), 'utf8')).toBe('Wires are red.\n')
      const lines = readFileSync(program, 'utf8').split('\n')
      expect(lines.filter((line) => line !== '').length).toBeLessThanOrEqual(20)
      rmSync(cwd, { recursive: true })
    },
    SLOW_MS,
  )

  test.each(storiesOf(speaker))(
    'the showcase tells its whole story on %s',
    async (kind, place) => {
      const args = ['examples/workspaces-showcase/main.ts', '--provider', kind]
      const brain = storyBrain(place)
      const { wire, stdout, stderr } = await play(speaker, brain, [...args, '--kill-after', '999'])
      expect([stderr, wire.problems]).toEqual(['', []])
      expect(stdout.endsWith(lastLine)).toBe(true)
      expect(stdout).not.toContain('\u001B')
      expect(wire.calls.length).toBeGreaterThan(6)
      if (!place.hasShell) return
      const published = [
        'no terminal: the script of the demo approves',
        'approved by script',
        '+ ms@',
      ]
      expect(published.filter((part) => !stdout.includes(part))).toEqual([])
    },
    SLOW_MS,
  )
})

test.concurrent(
  'the showcase kills a model that does what it wants, and it resumes',
  async () => {
    const list = { type: 'call', name: 'workspace__box__ls', pieces: ['{"path":"/"}'] } as const
    const brain: Brain = (_, index) => ({
      type: 'answer',
      parts: index < 4 ? [{ ...list, id: `c${index}` }] : [{ type: 'text', pieces: ['Enough.'] }],
    })
    const args = ['examples/workspaces-showcase/main.ts', '--kill-after', '3']
    const { stdout, stderr } = await play(speakers[1]!, brain, args)
    expect(stderr).toBe('')
    expect(stdout).toContain('✂ kill -9')
    expect(stdout.endsWith(lastLine)).toBe(true)
  },
  SLOW_MS,
)

test.concurrent(
  'the showcase in a Durable Object has its model from workerd',
  async () => {
    const brain = storyBrain({ hasShell: false, isDurable: true })
    const args = ['examples/workspaces-showcase/main.ts', '--provider', 'cloudflare-filestore']
    const { wire, stdout, stderr } = await play(speakers[1]!, brain, [
      ...args,
      '--kill-after',
      '999',
    ])
    expect([stderr, wire.problems]).toEqual(['', []])
    expect(stdout.endsWith(lastLine)).toBe(true)
  },
  SLOW_MS,
)

const hopeless = [
  ['an unknown provider', { MODEL: 'opnai/m', AI_GATEWAY_API_KEY: '' }, 'opnai'],
  ['no key', { MODEL: 'anthropic/m', ANTHROPIC_API_KEY: '' }, 'ANTHROPIC_API_KEY is not set'],
  ['an address that is none', { MODEL: 'm', MODEL_BASE_URL: 'nowhere' }, 'MODEL_BASE_URL'],
  ['a name that is none', { MODEL: 'm', MODEL_BASE_URL: '' }, 'provider/name'],
] as const

describe.concurrent.each(['quick-start', 'workspaces-showcase'])('%s', (example) => {
  test.each(sampler.pick(`hopeless models of ${example}`, hopeless, 2))(
    'says in one line what is wrong with %s',
    async (_, variables, words) => {
      const { code, stdout, stderr } = await run([`examples/${example}/main.ts`], variables)
      expect([code, stdout, stderr.trimEnd().split('\n')]).toEqual([2, '', [expect.any(String)]])
      expect(stderr).toContain(words)
    },
    SLOW_MS,
  )

  test(
    'says in one line that its server does not answer as it should',
    async () => {
      const wire = new Wire(openaiChat, () => ({ type: 'failure', failure: 'invalid-request' }))
      const server = await startWireServer(wire)
      const variables = { MODEL: 'm', MODEL_BASE_URL: server.url, MODEL_API_KEY: KEY }
      const { code, stderr } = await run([`examples/${example}/main.ts`], variables)
      await server.close()
      expect(code).toBe(1)
      expect(stderr).not.toContain('    at ')
      expect(stderr).toContain('does not accept the call')
    },
    SLOW_MS,
  )
})
