import { deepEqual, equal, match } from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { JSAgentExecutor, MockLLMAdapter } from '@helix-agents/sdk'
import { LocalBashWorkspaceProvider, openSqliteStores } from '@helix-agents/sdk/node'
import { createAgent } from '../src/agent.ts'
import { openAssistant } from '../src/open-assistant.ts'
import { printRun } from '../src/print-run.ts'

function makeFolder(context: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'assistant-'))
  context.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

function collect(): { write(text: string): void; readonly text: string } {
  const pieces: string[] = []
  return {
    write: (text) => void pieces.push(text),
    get text() {
      return pieces.join('')
    },
  }
}

test('the tool answers the model', async (context) => {
  const folder = makeFolder(context)
  const { stateStore, streamManager, close } = await openSqliteStores(':memory:')
  const call = { id: '1', name: 'count_words', arguments: { text: 'one two three' } }
  const model = new MockLLMAdapter([
    { type: 'tool_calls', toolCalls: [call] },
    ({ messages }) => {
      const content = JSON.stringify(messages.at(-1)?.content)
      return { type: 'text', content, shouldStop: true }
    },
  ])
  const executor = new JSAgentExecutor(stateStore, streamManager, model, {
    workspaceProviders: [new LocalBashWorkspaceProvider({ tmpdirRoot: folder })],
  })
  const handle = await executor.execute(createAgent('mock'), 'Count', { sessionId: 'test' })
  const { status, output } = await handle.result()
  deepEqual([status, output], ['completed', '"3"'])
  await close()
})

test('the conversation and its files survive a restart', async (context) => {
  const folder = makeFolder(context)
  const outputs: string[] = []
  for (const message of ['Buy oranges', 'Call Ada on Friday']) {
    const assistant = await openAssistant(folder, {})
    const output = collect()
    const { agent, executor } = assistant
    const handle = await executor.execute(agent, message, { sessionId: 'test' })
    equal(await printRun(handle, output), true)
    outputs.push(output.text)
    await assistant.close()
  }
  match(outputs[0] ?? '', /· files__write_file .*Notes so far: 1\./s)
  match(outputs[1] ?? '', /Notes so far: 2\./)
})

test('a model that is misspelt is an error of one line', async (context) => {
  const opening = openAssistant(makeFolder(context), { MODEL: 'opnai/gpt-5' })
  await opening.then(
    () => Promise.reject(new Error('it opened')),
    (error: Error) => match(error.message, /^MODEL names the provider "opnai", .*$/),
  )
})
