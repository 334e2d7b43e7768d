import { expect, test, vi } from 'vitest'
import { PolicyError } from '../../src/errors/policy-error.ts'
import type { RunResult, Shell, ShellRunOptions } from '../../src/modules/shell/contract.ts'
import { injectWorkspaceTools } from '../../src/tools/inject-workspace-tools.ts'
import { isToolName } from '../../src/tools/tool-name.ts'
import { declare, StubAgent } from './stub-context.ts'

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
const done = (stdout = ''): RunResult => ({
  stdout: bytes(stdout),
  stderr: new Uint8Array(),
  exitCode: 0,
  durationMs: 1,
  timedOut: false,
})
const shell = (run: Shell['run'] = async () => done('hi\n')): { shell: Shell } => ({
  shell: { run },
})
const namesOf = (agent: StubAgent): string[] => [...agent.tools.keys()]

test('only what is declared is injected, under the name of the workspace', () => {
  expect(namesOf(new StubAgent({}, { shell: true }))).toEqual(['run'])
  expect(namesOf(new StubAgent({}, { shell: false }))).toEqual([])
  expect(namesOf(new StubAgent({}, { shell: { background: true } }))).toEqual([
    'run',
    'process_list',
    'process_output',
    'process_kill',
  ])
  expect(namesOf(new StubAgent({}, { code: true }))).toEqual(['run_code'])
  expect(namesOf(new StubAgent({}, { code: { isStateful: true } }))).toEqual([
    'run_code',
    'create_code_context',
    'run_in_code_context',
    'delete_code_context',
  ])
  expect(namesOf(new StubAgent({}, { snapshot: true }))).toEqual(['snapshot', 'restore'])
  expect(namesOf(new StubAgent({}, { snapshot: true }, { branch: true }))).toEqual([
    'snapshot',
    'restore',
    'branch',
  ])
  const everything = new StubAgent(
    {},
    { fs: { extended: true }, shell: true, code: { isStateful: true }, snapshot: true },
  )
  for (const tool of everything.tools.values())
    expect([tool.name, isToolName(tool.name)]).toEqual([tool.name, true])
})

test('several workspaces keep their own tools and order keys', () => {
  const box = declare({ shell: true })
  const declarations = { box, other: { ...box, name: 'other' } }
  const tools = injectWorkspaceTools(declarations, () => ({}))
  expect(tools.map(({ name, orderKey }) => [name, orderKey])).toEqual([
    ['workspace__box__run', 'workspace:box'],
    ['workspace__other__run', 'workspace:other'],
  ])
})

test('the first tool of a module says what its provider notes', () => {
  const box = declare({ shell: { background: true }, fs: true })
  const notes = { shell: 'There is no git here.' }
  const tools = injectWorkspaceTools(
    { box },
    () => ({}),
    () => notes,
  )
  const noted = tools.filter(({ description }) => description.endsWith(` ${notes.shell}`))
  expect(noted.map(({ name }) => name)).toEqual(['workspace__box__run'])
})

test('parameters are JSON Schema, made once for all agents', () => {
  const [first, second] = [1, 2].map(() => new StubAgent({}, { shell: true }).tools.get('run')!)
  expect(first!.parameters).toBe(second!.parameters)
  expect(first!.parameters).toMatchObject({
    type: 'object',
    properties: { command: { type: 'string' }, opts: { type: 'object' } },
    required: ['command'],
    additionalProperties: false,
  })
})

test('every tool describes itself and its arguments', () => {
  const everything = new StubAgent(
    {},
    { shell: { background: true }, code: { isStateful: true }, snapshot: true },
    { branch: true },
  )
  for (const tool of everything.tools.values()) {
    expect(tool.description).not.toBe('')
    expect(tool.parameters).toMatchObject({ type: 'object', additionalProperties: false })
    const { readOnly, destructive } = tool.annotations
    expect([tool.name, readOnly && destructive]).toEqual([tool.name, false])
  }
})

test('the workspace is used with the annotations and the signal of the call', async () => {
  const agent = new StubAgent(shell(), { shell: { background: true } })
  await agent.call('run', { command: 'ls' })
  await expect(agent.call('process_list', {})).rejects.toMatchObject({ code: 'capability-missing' })
  expect(agent.access.uses.map(({ idempotent }) => idempotent)).toEqual([false, true])
  expect(agent.access.uses[0]!.signal).toBe(agent.abort.signal)
})

test('malformed arguments never reach the workspace', async () => {
  const agent = new StubAgent(shell(), { shell: true })
  for (const input of [{}, { command: 5 }, { command: 'ls', cwd: '/' }, 'ls', null]) {
    await expect(agent.call('run', input)).rejects.toMatchObject({ code: 'invalid-input' })
  }
  expect(agent.access.uses).toEqual([])
})

test('a declared module that the live workspace lacks is a permanent failure', async () => {
  const agent = new StubAgent({}, { shell: true })
  await expect(agent.call('run', { command: 'ls' })).rejects.toMatchObject({
    code: 'capability-missing',
    transient: false,
  })
})

test('calls are counted and timed, also those that fail', async () => {
  const run = vi.fn<Shell['run']>(async () => done())
  const agent = new StubAgent(shell(run), { shell: { allowedCommands: ['ls'] } })
  run.mockImplementationOnce(async () => {
    await agent.access.clock.advance(7)
    return done()
  })
  await agent.call('run', { command: 'ls' })
  await expect(agent.call('run', { command: 'rm' })).rejects.toBeInstanceOf(PolicyError)
  const labels = { workspace: 'box', providerId: 'stub' }
  expect(agent.access.metrics.calls('incToolCall')).toEqual([
    [labels, 'run', 'success'],
    [labels, 'run', 'error'],
  ])
  expect(agent.access.metrics.calls('observeToolMs')).toEqual([
    [labels, 'run', 7],
    [labels, 'run', 0],
  ])
  expect(agent.access.audits).toHaveLength(1)
})

test('the policy is built once for a live workspace, and anew for the next one', async () => {
  const agent = new StubAgent(shell(), { shell: true })
  const { live } = agent.access
  const reads = vi.fn<() => void>()
  agent.access.live = new Proxy(live, {
    get: (target, key, receiver) => {
      if (key === 'shell') reads()
      return Reflect.get(target, key, receiver) as unknown
    },
  })
  await agent.call('run', { command: 'ls' })
  await agent.call('run', { command: 'ls' })
  expect(reads).toHaveBeenCalledTimes(1)
  agent.access.live = { ...live, ...shell(async () => done('second\n')) }
  expect(await agent.ask('run', { command: 'ls' })).toContain('second')
})

test('a notice is told once, with the next result that succeeds', async () => {
  const run = vi.fn<Shell['run']>(async () => done('hi\n'))
  const agent = new StubAgent(shell(run), { shell: true })
  agent.access.notice = 'its files are gone'
  run.mockRejectedValueOnce(new Error('boom'))
  await expect(agent.ask('run', { command: 'ls' })).rejects.toThrow('boom')
  const told = await agent.ask('run', { command: 'ls' })
  expect(told).toBe('[workspace notice: its files are gone]\nhi\n[exit code 0]')
  expect(await agent.ask('run', { command: 'ls' })).not.toContain('notice')
})

test('a notice can be told with an error, and then it is told', async () => {
  const run = vi.fn<Shell['run']>(async () => done('hi\n'))
  const agent = new StubAgent(shell(run), { shell: true })
  agent.access.notice = 'its files are gone'
  run.mockRejectedValueOnce(new Error('boom'))
  await expect(agent.ask('run', { command: 'ls' })).rejects.toThrow('boom')
  const tool = agent.tools.get('run')!
  expect(tool.takeNotice?.(agent.access)).toBe('[workspace notice: its files are gone]')
  expect(tool.takeNotice?.(agent.access)).toBeUndefined()
  expect(await agent.ask('run', { command: 'ls' })).not.toContain('notice')
})

test('live output is decoded across chunks, and what is left at the end is said', async () => {
  const emoji = bytes('🙂é')
  const run = async (_command: unknown, options: ShellRunOptions = {}): Promise<RunResult> => {
    for (const byte of emoji) await options.onStdout?.(Uint8Array.of(byte))
    await options.onStderr?.(Uint8Array.of(0xf0, 0x9f))
    return done()
  }
  const agent = new StubAgent(shell(run), { shell: true })
  await agent.call('run', { command: 'ls' })
  expect(agent.progress).toEqual([
    { output: 'stdout', text: '🙂' },
    { output: 'stdout', text: 'é' },
    { output: 'stderr', text: '\uFFFD' },
  ])
})
