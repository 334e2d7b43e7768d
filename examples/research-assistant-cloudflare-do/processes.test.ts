// The commands of the README as processes: what they print, how they end, and that nothing of
// them is left.
import { type ChildProcess, spawn, type SpawnOptions } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { TestSampler } from '@helix-agents/core/testing'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { findServer, type LocalServer, waitFor } from './local-server.ts'
import { startLocalWorker } from './local-worker.ts'

const SLOW = 300_000
const sampler = new TestSampler()
let folder = ''
const started: ChildProcess[] = []

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'helix-research-test-'))
})

afterEach(async () => {
  for (const child of started.splice(0)) {
    child.kill('SIGTERM')
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  }
  rmSync(folder, { recursive: true, force: true })
})

function run(
  program: string,
  env: Readonly<Record<string, string>> = {},
  options: SpawnOptions = {},
) {
  const child = spawn(process.execPath, [join(import.meta.dirname, program)], {
    ...options,
    env: { ...process.env, RESEARCH_FOLDER: folder, PORT: '0', TMPDIR: folder, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  started.push(child)
  const closed = once(child, 'close')
  const output = Promise.all([text(child.stdout), text(child.stderr), closed])
  const end = output.then(([stdout, stderr, [code]]) => ({ stdout, stderr, code: code as number }))
  return { child, end }
}

/** Whether any process of the group is there; one that is only not yet waited for is not. */
function isAlive({ pid }: LocalServer): boolean {
  try {
    return process.kill(-pid, 0)
  } catch {
    return false
  }
}

const gone = (server: LocalServer) =>
  waitFor('the end of workerd', () => (isAlive(server) ? undefined : true), 60_000)

test(
  'one command starts the Worker, a second plays the story, and both leave nothing',
  async () => {
    const start = run('start.ts')
    const first = await waitFor('the Worker', () => findServer(folder), 120_000)
    expect(await run('talk.ts', { RESEARCH_TOKEN: 'wrong' }).end).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('401'),
    })
    // The story of `main.ts` is the same, and `examples.test.ts` plays it in every run.
    const last = sampler.isExhaustive ? await playStory(first) : first
    start.child.kill('SIGTERM')
    const { stdout, code } = await start.end
    const again = stdout.includes('it is started again on the same folder')
    expect([code, again]).toEqual([0, sampler.isExhaustive])
    await gone(last)
    expect(findServer(folder)).toBeUndefined()
  },
  SLOW,
)

/** Plays the story, in which workerd is killed. @returns the one that is there then. */
async function playStory(first: LocalServer): Promise<LocalServer> {
  const { stdout, stderr, code } = await run('talk.ts').end
  expect([stderr, code]).toEqual(['', 0])
  expect(stdout).toContain('every event was seen once, over both connections\n')
  const second = findServer(folder)!
  expect([second.url, second.pid === first.pid]).toEqual([first.url, false])
  return second
}

type Signal = 'SIGINT' | 'SIGKILL'
const kill = (signal: Signal) => (story: ChildProcess) => void story.kill(signal)
/** As a terminal does, to all processes of it. */
const ctrlC = ({ pid }: ChildProcess) => void process.kill(-pid!, 'SIGINT')
const interrupts = [
  ['SIGINT', kill('SIGINT')],
  ['Ctrl+C', ctrlC],
] as const

test.each([...sampler.pick('interrupts', interrupts, 1), ['SIGKILL', kill('SIGKILL')] as const])(
  'the story that gets a %s leaves no workerd',
  async (name, end) => {
    const story = run('main.ts', {}, { detached: true })
    const server = await waitFor('the Worker', () => findServerBelow(folder), 120_000)
    end(story.child)
    const isKilled = name === 'SIGKILL'
    expect((await story.end).code).toBe(isKilled ? null : 130)
    await gone(server)
    // A process that was killed removes no folder.
    const left = readdirSync(folder).filter((one) => one.startsWith('helix-research-'))
    expect(left).toHaveLength(isKilled ? 1 : 0)
  },
  SLOW,
)

test(
  'a Worker that is called off while it starts does not keep anybody waiting',
  async () => {
    const calledOff = new AbortController()
    const options = { entry: 'src/worker.ts', folder, port: 0, vars: {}, onLine: () => {} }
    const starting = startLocalWorker({ ...options, signal: calledOff.signal })
    const answer = starting.catch((error: unknown) => error)
    calledOff.abort()
    expect(await answer).toBe(calledOff.signal.reason)
    const again = startLocalWorker({ ...options, signal: calledOff.signal })
    await expect(again).rejects.toBe(calledOff.signal.reason)
  },
  SLOW,
)

/** Of a story, which makes its own folder. */
function findServerBelow(parent: string): LocalServer | undefined {
  const [own] = readdirSync(parent).filter((name) => name.startsWith('helix-research-'))
  return own === undefined ? undefined : findServer(join(parent, own))
}

test('there is no agent to talk to before the start', async () => {
  const { stdout, stderr, code } = await run('talk.ts').end
  expect([stdout, stderr, code]).toEqual([
    '',
    'no Worker is running: use the script "start" first\n',
    1,
  ])
})
