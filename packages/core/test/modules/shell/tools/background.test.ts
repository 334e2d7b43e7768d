import { expect, test, vi } from 'vitest'
import type {
  BackgroundProcess,
  ProcessOutput,
  Shell,
} from '../../../../src/modules/shell/contract.ts'
import type { ProcessOutputPage } from '../../../../src/modules/shell/tools/calls/process-output.ts'
import { StubAgent } from '../../../tools/stub-context.ts'

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
const running: BackgroundProcess = {
  id: 'p1',
  command: 'npm start',
  state: 'running',
  startedAt: new Date(0),
}
const exited: BackgroundProcess = { ...running, id: 'p2', state: 'exited', exitCode: 3 }

function createAgent(shell: Partial<Shell>) {
  const run = vi.fn<Shell['run']>()
  return {
    run,
    agent: new StubAgent({ shell: { run, ...shell } }, { shell: { background: true } }),
  }
}

/** A process that has printed this much, read as providers read it. */
const printing = (text: string, process: BackgroundProcess = running): Partial<Shell> => ({
  output: async (_id, from = {}): Promise<ProcessOutput> => ({
    stdout: bytes(text).subarray(from.stdoutOffset ?? 0),
    stderr: new Uint8Array(),
    nextStdoutOffset: bytes(text).length,
    nextStderrOffset: 0,
    process,
  }),
})

test('a command is started in the background when it is asked for', async () => {
  const start = vi.fn<NonNullable<Shell['start']>>(async () => running)
  const { run, agent } = createAgent({ start })
  const input = { command: 'npm start', opts: { background: true, cwd: '/app' } }
  expect(await agent.ask('run', input)).toBe('[started in the background: process p1]')
  expect(start).toHaveBeenCalledWith('npm start', { cwd: '/app' })
  expect(run).not.toHaveBeenCalled()
})

test('a provider without background processes says so', async () => {
  const { agent } = createAgent({})
  const calls: [string, unknown][] = [
    ['run', { command: 'x', opts: { background: true } }],
    ['process_list', {}],
    ['process_output', { id: 'p1' }],
    ['process_kill', { id: 'p1' }],
  ]
  for (const [name, input] of calls) {
    await expect(agent.call(name, input)).rejects.toMatchObject({ code: 'capability-missing' })
  }
})

test('processes are listed with their state', async () => {
  const { agent } = createAgent({ list: async () => [running, exited] })
  expect(await agent.ask('process_list', {})).toBe(
    'p1 running: "npm start"\np2 exit code 3: "npm start"',
  )
  const none = createAgent({ list: async () => [] })
  expect(await none.agent.ask('process_list', {})).toBe('[no background processes]')
})

test('a process is ended by its id', async () => {
  const kill = vi.fn<NonNullable<Shell['kill']>>(async () => {})
  expect(await createAgent({ kill }).agent.ask('process_kill', { id: 'p1' })).toContain('p1')
  expect(kill).toHaveBeenCalledWith('p1')
})

test('pages follow each other without gap, overlap or split character', async () => {
  const text = '日本語 output\n'.repeat(5000)
  const { agent } = createAgent(printing(text, exited))
  let read = ''
  let page: ProcessOutputPage | undefined
  do {
    const from = page === undefined ? {} : { stdoutOffset: page.nextStdoutOffset }
    page = await agent.call<ProcessOutputPage>('process_output', { id: 'p2', ...from })
    read += page.stdout
  } while (page.hasMore)
  expect(read).toBe(text)
})

test('a character that is still being printed waits for the next page', async () => {
  const half = createAgent({
    output: async () => ({
      stdout: bytes('a日').subarray(0, 3),
      stderr: new Uint8Array(),
      nextStdoutOffset: 3,
      nextStderrOffset: 0,
      process: running,
    }),
  })
  expect(await half.agent.call('process_output', { id: 'p1' })).toMatchObject({
    stdout: 'a',
    nextStdoutOffset: 1,
  })
})

test('the model reads where to go on', async () => {
  const { agent } = createAgent(printing('x'.repeat(40_000)))
  expect(await agent.ask('process_output', { id: 'p1' })).toContain(
    '[there is more: read on with stdoutOffset: 15000, stderrOffset: 0]',
  )
  const quiet = createAgent(printing(''))
  expect(await quiet.agent.ask('process_output', { id: 'p1' })).toContain('[no new output]')
})
