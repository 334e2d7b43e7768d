// What a session knows of its files outlives the run that has read them.
import { defineAgent } from '@helix-agents/core'
import type { FileSystem } from '@helix-agents/core/provider'
import { InMemoryWorkspaceProvider } from '@helix-agents/workspace-memory'
import { expect, test } from 'vitest'
import { calls, createHarness, say, storedMessages, textOfResult } from './harness.ts'

const agent = defineAgent({
  name: 'a',
  llmConfig: { model: {} },
  workspaces: { box: { provider: { kind: 'in-memory' }, capabilities: { fs: true } } },
})
const write = (content: string) => calls(['workspace__box__write_file', { path: '/a', content }])

/** The file is written by one run, then perhaps by somebody else, and then by another run. */
async function writtenTwice(between: (files: FileSystem) => Promise<unknown>) {
  const provider = new InMemoryWorkspaceProvider()
  const harness = createHarness([write('1'), say('end')], { workspaceProviders: [provider] })
  await (await harness.executor.execute(agent, 'x', { sessionId: 's' })).result()
  const open = provider.resolve.bind(provider)
  provider.resolve = async (...given) => {
    const opened = await open(...given)
    await between(opened.ws.fs!)
    return opened
  }
  const next = harness.next([write('2'), say('end')])
  await (await next.executor.execute(agent, 'y', { sessionId: 's' })).result()
  const results = (await storedMessages(next)).filter(({ role }) => role === 'tool')
  return textOfResult(results.at(-1))
}

test('a file that an earlier run has written may be replaced by the next one', async () => {
  expect(await writtenTwice(async () => {})).toContain('replaced /a')
})

test('a file that somebody else has changed between two runs may not', async () => {
  const content = new TextEncoder().encode('of somebody else')
  expect(await writtenTwice((fs) => fs.writeFile('/a', content))).toContain('[stale-write]')
})
