// What programs without types give: each option that cannot be used is named, before anything is done.
import { defineAgent } from '@helix-agents/core'
import { expect, test, vi } from 'vitest'
import { createHarness } from '../harness.ts'

const agent = defineAgent({ name: 'a', llmConfig: { model: {} } })
const { executor, store } = createHarness([])
type Call = (value: never) => Promise<unknown>

const branch: Call = (options) => executor.branch(agent, options)
const diff: Call = (options) => executor.diff(agent, 's', options)
const move: Call = (options) => executor.moveWorkspace(agent, 's', 'box', options)
const importing: Call = (options) => executor.importSession(agent, options)
const reading: Call = (options) => executor.readFiles(agent, 's', options, async () => {})
const restore: Call = (files) => executor.restoreCheckpoint(agent, 's', 'c', { files })
const from = { fromSessionId: 's' }

test.each<readonly [string, Call, unknown, string]>([
  [
    'branch',
    branch,
    undefined,
    'options of branch must be an object such as { fromSessionId }, not undefined',
  ],
  [
    'branch',
    branch,
    [],
    'options of branch must be an object such as { fromSessionId }, not a list',
  ],
  ['branch', branch, {}, 'fromSessionId must be a string, not undefined'],
  ['branch', branch, { ...from, checkpointId: 7 }, 'checkpointId must be a string, not 7'],
  ['branch', branch, { ...from, sessionId: null }, 'sessionId must be a string, not null'],
  ['branch', branch, { ...from, files: true }, "files must be 'checkpoint', not true"],
  [
    'branch',
    branch,
    { ...from, seedWorkspaces: 'copy' },
    `seedWorkspaces must be 'fresh' or 'snapshot', not "copy"`,
  ],
  ['restore', restore, 'box', 'files must be a boolean or a list of workspace names, not "box"'],
  ['restore', restore, [7], 'files must be a boolean or a list of workspace names, not a list'],
  ['restore', restore, {}, 'files must be a boolean or a list of workspace names, not an object'],
  [
    'diff',
    diff,
    null,
    "options of diff must be an object such as { from: checkpointId, to: 'now' }, not null",
  ],
  ['diff', diff, {}, 'from must be a string, not undefined'],
  ['diff', diff, { from: 'c', to: 7 }, 'to must be a string, not 7'],
  ['diff', diff, { from: 'c', workspace: {} }, 'workspace must be a string, not an object'],
  [
    'readFiles',
    reading,
    'c',
    'options of readFiles must be an object such as { checkpointId }, not "c"',
  ],
  ['readFiles', reading, {}, 'checkpointId must be a string, not undefined'],
  ['readFiles', reading, { checkpointId: 'c', workspace: 7 }, 'workspace must be a string, not 7'],
  [
    'moveWorkspace',
    move,
    undefined,
    "options of moveWorkspace must be an object such as { to: { kind: 'local-bash' } }, not undefined",
  ],
  ['moveWorkspace', move, {}, "to must be an object such as { kind: 'local-bash' }, not undefined"],
  ['moveWorkspace', move, { to: {} }, 'to.kind must be a string, not undefined'],
  [
    'importSession',
    importing,
    undefined,
    'options of importSession must be an object such as { sessionId, seed }, not undefined',
  ],
  ['importSession', importing, { seed: {} }, 'sessionId must be a string, not undefined'],
  [
    'importSession',
    importing,
    { sessionId: 's' },
    'seed must be an object such as the result of loadBranchSeed, not undefined',
  ],
])('%s is told %#: %o', async (_, call, given, message) => {
  const load = vi.spyOn(store, 'loadSession')
  await expect(call(given as never)).rejects.toEqual(new TypeError(message))
  expect(load).not.toHaveBeenCalled()
})

test('what stands beside the options is checked too', async () => {
  const work = 'work' as never
  await expect(executor.readFiles(agent, 's', { checkpointId: 'c' }, work)).rejects.toEqual(
    new TypeError('the last argument must be a function'),
  )
  const name = 7 as never
  await expect(executor.moveWorkspace(agent, 's', name, { to: { kind: 'x' } })).rejects.toEqual(
    new TypeError('name of the workspace must be a string, not 7'),
  )
  await expect(executor.restoreCheckpoint(agent, 's', name)).rejects.toEqual(
    new TypeError('checkpointId must be a string, not 7'),
  )
  await expect(executor.respond(agent, 's', name, { decision: 'deny' })).rejects.toEqual(
    new TypeError('requestId must be a string, not 7'),
  )
})

test.each([true, false, [], ['box']])('files of %o are none or some', async (files) => {
  await expect(restore(files as never)).rejects.toMatchObject({ code: 'not-resumable' })
})

test('a long text is shown in short', async () => {
  const files = 'x'.repeat(101)
  await expect(branch({ ...from, files } as never)).rejects.toThrow(
    new TypeError(`files must be 'checkpoint', not "${'x'.repeat(100)}"`),
  )
})

const parts = (...missing: readonly string[]) => {
  const harness = createHarness([])
  const given = [harness.store, harness.streams, { generateStep: async () => ({}) }]
  return given.map((part, index) => (missing.includes(String(index)) ? {} : part)) as never
}

test.each([
  ['0', 'the first argument must be a state store such as new InMemoryStateStore()'],
  ['1', 'the second argument must be a stream manager such as new InMemoryStreamManager()'],
  [
    '2',
    'the third argument must be a model adapter such as new VercelAIAdapter(); models stand in llmConfig of agents',
  ],
])('an executor without its part %s says which', (missing, message) => {
  const Executor = executor.constructor as new (...given: unknown[]) => unknown
  expect(() => new Executor(...(parts(missing) as unknown[]))).toThrow(
    new TypeError(`JSAgentExecutor: ${message}`),
  )
  const [full, ...others] = parts() as readonly object[]
  const old = Object.assign(Object.create(full!) as object, { addRequests: undefined })
  expect(() => new Executor(old, ...others)).toThrow('a state store that keeps requests of people')
})

test.each([
  undefined,
  null,
  'a',
  {},
  { name: 'a', tools: [] },
  { name: 'a', tools: {}, workspaces: {} },
  { tools: [], workspaces: {} },
])('%o is no agent', async (given) => {
  const message = 'the first argument must be an agent that defineAgent has made'
  await expect(executor.execute(given as never, 'x')).rejects.toEqual(new TypeError(message))
})

test('a session has an id, or gets one', async () => {
  await expect(executor.execute(agent, 'x', { sessionId: '' })).rejects.toEqual(
    new RangeError('sessionId must not be empty; leave it out to get a random one'),
  )
})
