import { defineAgent } from '@helix-agents/core'
import { VercelAIAdapter } from '@helix-agents/llm-vercel'
import { JSAgentExecutor } from '@helix-agents/runtime-js'
import { InMemoryStateStore, InMemoryStreamManager } from '@helix-agents/store-memory'
import { InMemoryWorkspaceProvider } from '@helix-agents/workspace-memory'
import type { PlannedTurn } from '@helix-agents/workspace-conformance/model'
import { expect, test } from 'vitest'
import { fetchOf } from '../wire/wire-fetch.ts'
import { Wire } from '../wire/wire.ts'
import { providerNames, providers } from '../wire/wire-subjects.ts'

const call = (id: string, name: string, input: object): PlannedTurn => ({
  type: 'answer',
  parts: [{ type: 'call', id, name: `workspace__notes__${name}`, pieces: [JSON.stringify(input)] }],
})

const story: readonly PlannedTurn[] = [
  call('c1', 'write_file', { path: '/poem.txt', content: 'Roses are red.' }),
  call('c2', 'read_file', { path: '/poem.txt' }),
  { type: 'answer', parts: [{ type: 'text', pieces: ['Done.'] }] },
]

test.each(providerNames)('an agent with a workspace runs on %s', async (name) => {
  const wire = new Wire(providers[name].format(), (_, index) => story[index]!)
  const model = providers[name].model({ url: 'https://wire.test/v1', fetch: fetchOf(wire) })
  const agent = defineAgent({
    name: 'writer',
    llmConfig: { model },
    workspaces: { notes: { provider: { kind: 'in-memory' }, capabilities: { fs: true } } },
  })
  const executor = new JSAgentExecutor(
    new InMemoryStateStore(),
    new InMemoryStreamManager(),
    new VercelAIAdapter(),
    { workspaceProviders: [new InMemoryWorkspaceProvider()] },
  )
  const result = await (await executor.execute(agent, 'Write a poem.')).result()
  expect(result).toMatchObject({ status: 'completed', output: 'Done.' })
  expect(wire.problems).toEqual([])
  expect(JSON.stringify(wire.calls.at(-1)?.messages)).toContain('Roses are red.')
})
