// What programs without types, and values from a request, get from the methods of an executor.
import { type Agent, defineAgent } from '@helix-agents/core'
import { InMemoryWorkspaceProvider } from '@helix-agents/workspace-memory'
import { describe, expect, test } from 'vitest'
import type { JSAgentExecutor } from '../src/index.ts'
import { createHarness, say } from './harness.ts'

const agent = defineAgent({
  name: 'a',
  llmConfig: { model: {} },
  workspaces: {
    box: { provider: { kind: 'in-memory' }, capabilities: { fs: true }, history: 'step' },
    scratch: { provider: { kind: 'in-memory' }, capabilities: { fs: true } },
  },
})

async function ended() {
  const workspaceProviders = [new InMemoryWorkspaceProvider()]
  const harness = createHarness([say('done')], { workspaceProviders })
  await (await harness.executor.execute(agent, 'x', { sessionId: 's' })).result()
  const [checkpoint] = (await harness.store.listCheckpoints('s')).items
  return { ...harness, checkpointId: checkpoint!.id }
}

/** A method, called with arguments that its types forbid. */
function call(executor: JSAgentExecutor, method: string, args: readonly unknown[]): unknown {
  return Reflect.apply(Reflect.get(executor, method), executor, [...args])
}

const ofAgent = ['execute', 'resume', 'recover', 'respond', 'send', 'getHandle', 'canResume']
const ofFiles = ['diff', 'readFiles', 'moveWorkspace', 'importSession', 'releaseWorkspaces']

describe.each([...ofAgent, 'branch', 'restoreCheckpoint', 'deleteSession', ...ofFiles])(
  '%s',
  (method) => {
    test.each([undefined, null, 5, 'a', {}, []])('%j is no agent', async (value) => {
      const { executor } = createHarness([])
      const wanted = new TypeError('the first argument must be an agent that defineAgent has made')
      await expect(call(executor, method, [value, 's', {}])).rejects.toThrow(wanted)
    })
  },
)

test.each<[string, readonly unknown[], string]>([
  ['respond', ['s', 5, { approved: true }], 'requestId must be a string, not 5'],
  [
    'branch',
    [undefined],
    'options of branch must be an object such as { fromSessionId }, not undefined',
  ],
  ['branch', [{ fromSessionId: 5 }], 'fromSessionId must be a string, not 5'],
  [
    'branch',
    [{ fromSessionId: 's', checkpointId: {} }],
    'checkpointId must be a string, not an object',
  ],
  ['branch', [{ fromSessionId: 's', sessionId: 5 }], 'sessionId must be a string, not 5'],
  ['branch', [{ fromSessionId: 's', files: true }], "files must be 'checkpoint', not true"],
  [
    'branch',
    [{ fromSessionId: 's', seedWorkspaces: 'copy' }],
    "seedWorkspaces must be 'fresh' or 'snapshot', not \"copy\"",
  ],
  ['restoreCheckpoint', ['s', undefined], 'checkpointId must be a string, not undefined'],
  [
    'restoreCheckpoint',
    ['s', 'c', { files: 'box' }],
    'files must be a boolean or a list of workspace names, not "box"',
  ],
  [
    'restoreCheckpoint',
    ['s', 'c', { files: ['box', 5] }],
    'files must be a boolean or a list of workspace names, not a list',
  ],
  ['diff', ['s', {}], 'from must be a string, not undefined'],
  ['diff', ['s', { from: 'now', to: 5 }], 'to must be a string, not 5'],
  ['diff', ['s', { from: 'now', workspace: ['box'] }], 'workspace must be a string, not a list'],
  ['readFiles', ['s', {}, () => undefined], 'checkpointId must be a string, not undefined'],
  ['readFiles', ['s', { checkpointId: 'c' }], 'the last argument must be a function'],
  [
    'moveWorkspace',
    ['s', 5, { to: { kind: 'in-memory' } }],
    'name of the workspace must be a string, not 5',
  ],
  [
    'moveWorkspace',
    ['s', 'box', {}],
    "to must be an object such as { kind: 'local-bash' }, not undefined",
  ],
  ['moveWorkspace', ['s', 'box', { to: { kind: 5 } }], 'to.kind must be a string, not 5'],
  [
    'importSession',
    [{ sessionId: 'n' }],
    'seed must be an object such as the result of loadBranchSeed, not undefined',
  ],
])('%s(agent, ...%j)', async (method, args, wanted) => {
  const { executor, store } = await ended()
  const before = await store.loadSession('s')
  await expect(call(executor, method, [agent, ...args])).rejects.toThrow(new TypeError(wanted))
  expect(await store.loadSession('s')).toEqual(before)
})

test('a comparison of a workspace without a history says so', async () => {
  const { executor, checkpointId } = await ended()
  const compare = (subject: Agent, workspace?: string) =>
    executor.diff(subject, 's', {
      from: checkpointId,
      ...(workspace !== undefined && { workspace }),
    })
  await expect(compare(agent, 'scratch')).rejects.toThrow(
    'there is nothing to compare: no workspace named "scratch" has a history',
  )
  const plain = defineAgent({ name: 'a', llmConfig: { model: {} } })
  await expect(compare(plain)).rejects.toThrow('nothing to compare: no workspace has a history')
})
