// What monitoring asks is answered while a run is busy, whatever it is busy with.
import { defineTool } from '@helix-agents/core'
import type { FileSystem } from '@helix-agents/core/provider'
import { describe, expect, test } from 'vitest'
import { createHarness, type Harness, say, use } from './harness.ts'

/** Many files for `glob`, and among them enough text for `grep`. */
const fill = defineTool({
  name: 'fill',
  description: 'Makes files.',
  inputSchema: { type: 'object' },
  execute: (_, { workspaces }) =>
    workspaces.use('box', ({ live: { fs } }) => fillWith(fs), { idempotent: true }),
})

async function fillWith(fs: FileSystem | undefined): Promise<string> {
  const text = new TextEncoder().encode(
    'The quick brown fox jumps over the lazy dog.\n'.repeat(9000),
  )
  const empty = new Uint8Array()
  for (let i = 0; i < 20_000; i++) {
    await fs?.writeFile(`/d${i % 50}/f${i}.txt`, i % 100 === 0 ? text : empty)
  }
  return 'filled'
}

function searcher(tool: string, input: object): Harness {
  return createHarness({
    tools: [fill],
    brain: (messages) => {
      if (messages.length === 1) return use('fill')
      return messages.length === 3 ? use(`workspace__box__${tool}`, input) : say('ok')
    },
  })
}

/** Asks for metrics and health again and again; returns how often they came during the search. */
async function answersWhileSearching(harness: Harness, tool: string): Promise<number> {
  const { agent, executor } = harness.parts
  const handle = await executor.getHandle(agent, 's')
  const search = { isRunning: false, isOver: false }
  const watch = async (): Promise<void> => {
    for await (const chunk of handle?.stream() ?? []) {
      const isOurs = 'toolName' in chunk && chunk.toolName.endsWith(tool)
      if (isOurs) search.isRunning = chunk.type === 'tool_start'
      if (isOurs && chunk.type === 'tool_end' && !chunk.success)
        throw new Error(chunk.error?.message)
    }
  }
  const watching = watch().finally(() => (search.isOver = true))
  let answers = 0
  while (!search.isOver) {
    const both = await Promise.all([harness.get('/metrics'), harness.get('/healthz/s')])
    if (search.isRunning && both.every(({ status }) => status === 200)) answers++
    // A request of the network waits for its turn of the event loop.
    await new Promise((resolve) => setImmediate(resolve))
  }
  await watching
  return answers
}

describe('metrics and health are answered', () => {
  test('while a tool waits', async () => {
    const begun = Promise.withResolvers<void>()
    const released = Promise.withResolvers<string>()
    const wait = defineTool({
      name: 'wait',
      description: 'Waits.',
      inputSchema: { type: 'object' },
      execute: () => {
        begun.resolve()
        return released.promise
      },
    })
    const { post, get, ended } = createHarness({
      tools: [wait],
      brain: (messages) => (messages.length === 1 ? use('wait') : say('ok')),
    })
    await post('/sessions', { message: 'go', sessionId: 's' })
    await begun.promise
    const metrics = await get('/metrics')
    expect([metrics.status, await metrics.text()]).toEqual([200, 'helix_up 1\n'])
    expect((await get('/healthz/s')).status).toBe(200)
    released.resolve('done')
    expect(await ended('s')).toBe('completed')
  })

  test.each([
    ['grep', { pattern: '[a-z]+ [a-z]+ (fox|wolf) [a-z ]+ cat' }],
    ['glob', { pattern: '**/{a,b,f}*[0-9].{md,txt}' }],
  ])(
    'while %s searches',
    async (tool, input) => {
      const harness = searcher(tool, input)
      await harness.post('/sessions', { message: 'search', sessionId: 's' })
      const answers = await answersWhileSearching(harness, tool)
      expect(await harness.ended('s')).toBe('completed')
      expect(answers).toBeGreaterThanOrEqual(2)
    },
    120_000,
  )
})
