// A session with its sub-agents is removed as a whole, also when some of its rows are damaged.
import { DatabaseSync } from 'node:sqlite'
import { join } from 'node:path'
import { createSubAgentTool, defineAgent, MockLLMAdapter } from '@helix-agents/core'
import { JSAgentExecutor } from '@helix-agents/runtime-js'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { opened } from './script.ts'
import { temporaryDirectory } from './temporary-directory.ts'

const llmConfig = { model: {} }
const helper = defineAgent({ name: 'helper', llmConfig })
const tools = [createSubAgentTool(helper, z.object({}))]
const agent = defineAgent({ name: 'a', llmConfig, tools })
const TABLES = ['sessions', 'messages', 'checkpoints', 'runs', 'states', 'labels', 'chunks']

const say = (content: string) => ({ type: 'text', content, shouldStop: true }) as const

async function withTwo(path: string) {
  const { stateStore, streamManager } = await opened(path)
  const ask = { id: '1', name: 'subagent__helper', arguments: {} }
  const model = new MockLLMAdapter(
    Array.from({ length: 2 }, () => [
      { type: 'tool_calls' as const, toolCalls: [ask] },
      say('Because.'),
      say('It says: because.'),
    ]).flat(),
  )
  const executor = new JSAgentExecutor(stateStore, streamManager, model)
  for (const sessionId of ['gone', 'kept']) {
    await (await executor.execute(agent, 'Why?', { sessionId })).result()
  }
  return { executor, stateStore, streamManager }
}

/** How many rows each table has. */
function rowsOf(path: string): Readonly<Record<string, unknown>> {
  const database = new DatabaseSync(path, { readOnly: true })
  const tables = database
    .prepare("SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'helix_%'")
    .all()
    .map(({ name }) => String(name))
  const rows = tables.map((name) => [
    name,
    database.prepare(`SELECT count(*) AS n FROM ${name}`).get()?.['n'],
  ])
  database.close()
  return Object.fromEntries(rows) as Readonly<Record<string, unknown>>
}

const damages = {
  nothing: 'SELECT 1',
  'the session': "UPDATE helix_sessions SET status = 'asleep' WHERE session_id = 'gone'",
  'the sub-agent': "UPDATE helix_sessions SET status = 'asleep' WHERE session_id = 'gone/s1-0'",
  both: "UPDATE helix_sessions SET status = 'asleep' WHERE session_id LIKE 'gone%'",
}

for (const [what, statement] of Object.entries(damages)) {
  test(`a session is removed with its sub-agents, when ${what} is damaged`, async () => {
    const path = join(temporaryDirectory(), 'delete.db')
    const { executor, stateStore, streamManager } = await withTwo(path)
    const before = rowsOf(path)
    const database = new DatabaseSync(path)
    database.exec(statement)
    database.close()
    await executor.deleteSession(agent, 'gone')
    const page = await stateStore.listSessions()
    expect(page.items.map(({ sessionId }) => sessionId)).toEqual(['kept/s1-0', 'kept'])
    expect(page.unreadable).toBeUndefined()
    for (const id of ['gone', 'gone/s1-0']) expect(await streamManager.read(id)).toBeNull()
    expect((await stateStore.loadMessages('kept')).total).toBe(4)
    // The other one is its like: half of all rows are left, but for those of the schema.
    const halves = Object.entries(before).filter(([name]) => TABLES.includes(name.slice(6)))
    expect(halves.length).toBeGreaterThan(4)
    const after = rowsOf(path)
    for (const [name, count] of halves)
      expect([name, after[name]]).toEqual([name, Number(count) / 2])
  })
}
