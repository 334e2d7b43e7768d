// Every text of the troubleshooting page that is ours comes from the code: each is made here.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import {
  defineAgent,
  defineTool,
  MockLLMAdapter,
  type StepResult,
} from '../packages/core/src/index.ts'
import type { WorkspaceProvider } from '../packages/core/src/provider.ts'
import { modelFromEnvironment } from '../packages/llm-vercel/src/environment.ts'
import { JSAgentExecutor } from '../packages/runtime-js/src/index.ts'
import { InMemoryStateStore, InMemoryStreamManager } from '../packages/store-memory/src/index.ts'
import { openSqliteStores } from '../packages/store-sqlite/src/index.ts'
import { LocalBashWorkspaceProvider } from '../packages/workspace-local-bash/src/index.ts'
import { requireBubblewrap } from '../packages/workspace-local-bash/src/shell/require-bubblewrap.ts'
import { InMemoryWorkspaceProvider } from '../packages/workspace-memory/src/index.ts'
import { read } from './repository.ts'

const headings = [...read('docs/guide/troubleshooting.md').matchAll(/^### `(.+)`$/gm)].map(
  ([, text]) => text ?? '',
)
const made = new Set<string>()
const folder = mkdtempSync(join(tmpdir(), 'helix-troubles-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** The heading that the text of an error shows, or the text. */
function headingOf(text: string): string {
  const heading = headings.find((one) => text.includes(one)) ?? text
  made.add(heading)
  return heading
}

async function thrown(work: () => unknown): Promise<string> {
  const error = await Promise.resolve()
    .then(work)
    .then(
      () => new Error('it did not fail'),
      (reason: unknown) => reason as Error,
    )
  return error.message
}

const done: StepResult = { type: 'text', content: 'Done.', shouldStop: true }
const call = (name: string, input: object): StepResult => ({
  type: 'tool_calls',
  toolCalls: [{ id: 'call', name, arguments: { ...input } }],
})
const box = (kind: string, capabilities: object, options: object = {}) => ({
  workspaces: { box: { provider: { kind, ...options }, capabilities } },
})
const agentOf = (config: object, name = 'a') =>
  defineAgent({ name, llmConfig: { model: 'any' }, ...config })

function executorOf(steps: readonly StepResult[], providers: readonly WorkspaceProvider[] = []) {
  const store = new InMemoryStateStore()
  const model = new MockLLMAdapter([...steps])
  const options = { workspaceProviders: [...providers] }
  const executor = new JSAgentExecutor(store, new InMemoryStreamManager(), model, options)
  return { executor, store }
}

/** What the model reads of one call. */
async function resultOf(config: object, provider: WorkspaceProvider, step: StepResult) {
  const { executor, store } = executorOf([step, done], [provider])
  await (await executor.execute(agentOf(config), 'go', { sessionId: 's' })).result()
  const { messages } = await store.loadMessages('s')
  return messages
    .flatMap(({ role, content }) => (role === 'tool' && typeof content === 'string' ? content : []))
    .join('')
}

async function failureOf(config: object, steps: readonly StepResult[]): Promise<string> {
  const { executor } = executorOf(steps, [new InMemoryWorkspaceProvider()])
  const result = await (await executor.execute(agentOf(config), 'go')).result()
  return result.status === 'failed' ? result.error.message : result.status
}

const memory = new InMemoryWorkspaceProvider()
const bash = new LocalBashWorkspaceProvider({ tmpdirRoot: folder })
const tool = (name: string) =>
  defineTool({ name, description: 'x', inputSchema: { type: 'object' }, execute: () => 'x' })
const ls = call('workspace__box__ls', { path: '/' })

const troubles: Readonly<Record<string, () => Promise<string>>> = {
  'a file of another module system': async () => {
    writeFileSync(join(folder, 'package.json'), '{"type":"commonjs"}')
    writeFileSync(join(folder, 'main.ts'), "import 'node:fs'\n")
    return spawnSync(process.execPath, ['main.ts'], { cwd: folder, encoding: 'utf8' }).stderr
  },
  'no key': () => thrown(() => modelFromEnvironment({ MODEL: 'openai/gpt-5' })),
  'no provider in MODEL': () => thrown(() => modelFromEnvironment({ MODEL: 'gpt-5' })),
  'another provider in MODEL': () => thrown(() => modelFromEnvironment({ MODEL: 'mistral/l' })),
  'a script that is over': () => failureOf(box('in-memory', { fs: true }), [ls]),
  'an unknown capability': () => thrown(() => agentOf(box('in-memory', { files: true }))),
  'a name in capitals': () =>
    thrown(() =>
      agentOf({
        workspaces: { Box: { provider: { kind: 'in-memory' }, capabilities: { fs: true } } },
      }),
    ),
  'no model': () => thrown(() => agentOf({ llmConfig: undefined })),
  'a tool twice': () => thrown(() => agentOf({ tools: [tool('x'), tool('x')] })),
  'no provider': () =>
    thrown(() => executorOf([]).executor.execute(agentOf(box('in-memory', { fs: true })), 'go')),
  'a capability too many': () => {
    const { executor } = executorOf([], [memory])
    return thrown(() => executor.execute(agentOf(box('in-memory', { fs: true, code: true })), 'go'))
  },
  'an option that is none': () => {
    const agent = agentOf(box('local-bash', { shell: true }, { isolatoin: 'none' }))
    return thrown(() => executorOf([], [bash]).executor.execute(agent, 'go'))
  },
  'no bubblewrap': () => thrown(() => requireBubblewrap(() => undefined)),
  'a session that runs': async () => {
    const gate = Promise.withResolvers<string>()
    const wait = defineTool({
      name: 'wait',
      description: 'x',
      inputSchema: { type: 'object' },
      execute: () => gate.promise,
    })
    const { executor } = executorOf([call('wait', {}), done])
    const agent = agentOf({ tools: [wait] })
    const handle = await executor.execute(agent, 'go', { sessionId: 's' })
    const text = await thrown(() => executor.execute(agent, 'go', { sessionId: 's' }))
    gate.resolve('x')
    await handle.result()
    return text
  },
  'a session of another agent': async () => {
    const { executor } = executorOf([done])
    await (await executor.execute(agentOf({}), 'go', { sessionId: 's' })).result()
    return thrown(() => executor.execute(agentOf({}, 'b'), 'go', { sessionId: 's' }))
  },
  'no such session': () => thrown(() => executorOf([]).executor.resume(agentOf({}), 'none')),
  'too many steps': () =>
    failureOf({ ...box('in-memory', { fs: true }), maxSteps: 3 }, [ls, ls, ls, ls]),
  'no database': () => {
    writeFileSync(join(folder, 'x.db'), 'words and words '.repeat(100))
    return thrown(() => openSqliteStores(join(folder, 'x.db')))
  },
  'a directory for a database': () => thrown(() => openSqliteStores(folder)),
  'a command that is not allowed': () =>
    resultOf(
      box('local-bash', { shell: { allowedCommands: ['git'] } }),
      bash,
      call('workspace__box__run', { command: 'ls' }),
    ),
  'a path of elsewhere': () =>
    resultOf(
      box('in-memory', { fs: true }),
      memory,
      call('workspace__box__read_file', { path: '/../etc/passwd' }),
    ),
  'no such tool': () =>
    resultOf(
      box('in-memory', { fs: true }),
      memory,
      call('workspace__box__run', { command: 'ls' }),
    ),
  'files that are read-only': () =>
    resultOf(
      box('in-memory', { fs: { readOnly: true } }),
      memory,
      call('workspace__box__write_file', { path: '/a', content: 'x' }),
    ),
  'a command out of time': () =>
    resultOf(
      box('local-bash', { shell: true }),
      bash,
      call('workspace__box__run', { command: 'sleep 60', opts: { timeoutMs: 50 } }),
    ),
}

test.each(Object.entries(troubles))('%s has its text on the page', async (_, make) => {
  expect(headings).toContain(headingOf(await make()))
})

test('each text of the page was made', () => {
  // Of a Node that is too old for these tests.
  const foreign = headings.filter((text) => text.includes('ERR_UNKNOWN_FILE_EXTENSION'))
  expect(headings.filter((text) => !made.has(text))).toEqual(foreign)
})
