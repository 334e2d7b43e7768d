import { strict as assert } from 'node:assert'
import { join } from 'node:path'
import { type Agent, MockLLMAdapter, type MockStep } from '@helix-agents/core'
import { type AgentHandle, JSAgentExecutor } from '@helix-agents/runtime-js'
import { openSqliteStores } from '@helix-agents/store-sqlite'
import { createCareless } from './careless.ts'
import { readInstalledPackage } from './installed-package.ts'
import { keepInObject } from './keeping.ts'
import { formatEdits, monthsTest, parserEdits } from './months.ts'
import { Narrator, paint } from './narrator.ts'
import { openPlace } from './providers.ts'

const sessionId = 'going-back'
const lib = '/ms/index.js'

type Call = readonly [tool: string, input: object]

function step(...list: readonly Call[]): MockStep {
  const toolCalls = list.map(([name, input], index) => ({
    id: String(index),
    name,
    arguments: input,
  }))
  return { type: 'tool_calls', toolCalls }
}

const say = (content: string): MockStep => ({ type: 'text', content, shouldStop: true })
const box = (tool: string, input: object): Call => [`workspace__box__${tool}`, input]

/** In memory: the change is right, and then it is broken. */
const breaking: readonly MockStep[] = [
  step(['checkout_package', { name: 'ms' }]),
  step(...[...parserEdits, ...formatEdits].map((edit) => box('edit_file', edit))),
  step(box('edit_file', { path: lib, oldText: 'var mo = y / 12;', newText: 'var mo = 30;' })),
  step(box('rm', { path: '/ms/package.json' })),
  say('I have cleaned up.'),
]

/** On local-bash, where there is a Node. */
const proving: readonly MockStep[] = [
  step(box('write_file', { path: '/ms/months.test.cjs', content: monthsTest })),
  step(box('run', { command: 'cd ms && node months.test.cjs' })),
  say('Green: what was broken is gone.'),
]

/**
 * The agent breaks the package, and its user goes back two steps with the files. The session begins in
 * memory, moves to this machine for its test and to a Durable Object for keeping. Rejects when that is not
 * what happens.
 */
export async function goBack(folder: string): Promise<void> {
  const [memory, machine] = [openPlace('in-memory', folder), openPlace('local-bash', folder)]
  const workspaceProviders = new Map([...memory.providers, ...machine.providers])
  const stores = await openSqliteStores(join(folder, 'going-back.db'))
  const { stateStore: store, streamManager: streams } = stores
  const executor = (steps: readonly MockStep[]): JSAgentExecutor =>
    new JSAgentExecutor(store, streams, new MockLLMAdapter(steps), { workspaceProviders })
  const agent = createCareless(memory.selection, readInstalledPackage)
  const first = executor(breaking)
  const shown = await show(await first.execute(agent, 'Teach ms about months.', { sessionId }), 1)
  const checkpoint = (await store.listCheckpoints(sessionId)).items[3]
  assert(checkpoint !== undefined)
  await showDifference(first, agent, checkpoint.id)
  await first.restoreCheckpoint(agent, sessionId, checkpoint.id, { files: true })
  console.log(`\n${paint('yellow', '↩')} back two steps, with the files`)
  const [now] = await first.diff(agent, sessionId, { from: checkpoint.id })
  assert.equal(now?.total, 0)
  const moved = await first.moveWorkspace(agent, sessionId, 'box', { to: machine.selection })
  console.log(
    `${paint('yellow', '⇢')} moved to local-bash: ${moved.files} files, ${moved.bytes} bytes`,
  )
  await show(await executor(proving).execute(agent, 'Prove it.', { sessionId }), shown + 1)
  await keepInObject({ agent, executor: first, store, sessionId }, folder)
  await first.deleteSession(agent, sessionId)
  await stores.close()
}

async function showDifference(
  executor: JSAgentExecutor,
  agent: Agent,
  from: string,
): Promise<void> {
  const [difference] = await executor.diff(agent, sessionId, { from })
  const paths = difference?.changes.map(({ path, change }) => `${change} ${path}`)
  assert.deepEqual(paths, [`changed ${lib}`, 'removed /ms/package.json'])
  console.log(`\n${paint('bold', 'what the last two steps changed')}`)
  for (const line of difference?.changes[0]?.diff?.split('\n') ?? []) console.log(`    │ ${line}`)
}

/** @returns the number of the last chunk */
async function show(handle: AgentHandle, fromSequence: number): Promise<number> {
  const narrator = new Narrator(console.log)
  let last = fromSequence - 1
  for await (const chunk of handle.stream({ fromSequence })) {
    narrator.show(chunk)
    last = chunk.sequence
  }
  narrator.flush()
  const { status } = await handle.result()
  assert.deepEqual([status, narrator.tally.failedCalls], ['completed', 0])
  return last
}
