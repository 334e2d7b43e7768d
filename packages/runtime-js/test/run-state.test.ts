import { defineAgent, defineTool } from '@helix-agents/core'
import type { StatePatch } from '@helix-agents/core/runtime'
import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { calls, chunksOf, createHarness, say, settle, textOfResult } from './harness.ts'

interface Basket {
  items: string[]
  owner?: { 'first/name~': string }
}

/** Runs one step whose tools change the state; returns state, patches and results. */
async function play(...recipes: readonly ((draft: Basket) => void)[]) {
  const tools = recipes.map((recipe, index) =>
    defineTool({
      name: `change${index}`,
      description: '',
      inputSchema: z.object({}),
      execute: async (_, context) => {
        await settle()
        context.updateState(recipe)
        return context.getState<Basket>().items?.length ?? 0
      },
    }),
  )
  const agent = defineAgent({
    name: 'a',
    llmConfig: { model: {} },
    tools,
    stateSchema: z.object({ items: z.array(z.string()).default(['x']) }).loose(),
  })
  const harness = createHarness([calls(...tools.map(({ name }) => [name] as const)), say('ok')])
  const handle = await harness.executor.execute(agent, 'x', { sessionId: 's' })
  await handle.result()
  const patches = (await chunksOf(handle)).flatMap((chunk): readonly StatePatch[] =>
    chunk.type === 'state_patch' ? chunk.patches : [],
  )
  const { messages } = await harness.store.loadMessages('s')
  return {
    state: (await harness.store.loadSession('s'))!.customState,
    patches,
    results: messages.filter(({ role }) => role === 'tool').map(textOfResult),
  }
}

describe('the custom state', () => {
  test('tools that run side by side merge their changes', async () => {
    const { state, patches } = await play(
      (draft) => void draft.items.push('a'),
      (draft) => void draft.items.push('b'),
    )
    expect(state).toEqual({ items: ['x', 'a', 'b'] })
    expect(patches).toEqual([
      { op: 'add', path: '/items/-', value: 'a' },
      { op: 'add', path: '/items/-', value: 'b' },
    ])
  })

  test('patches are JSON Patch with escaped keys', async () => {
    const { patches, state } = await play(
      (draft) => void (draft.owner = { 'first/name~': 'A' }),
      (draft) => void (draft.owner!['first/name~'] = 'B'),
      (draft) => void delete draft.owner,
      (draft) => void draft.items.pop(),
    )
    expect(patches).toEqual([
      { op: 'add', path: '/owner', value: { 'first/name~': 'A' } },
      { op: 'replace', path: '/owner/first~1name~0', value: 'B' },
      { op: 'remove', path: '/owner' },
      { op: 'remove', path: '/items/0' },
    ])
    expect(state).toEqual({ items: [] })
  })

  test('an update that changes nothing says nothing', async () => {
    const { patches } = await play((draft) => void (draft.items = [...draft.items].slice(0, 1)))
    expect(patches.every(({ op }) => op === 'replace')).toBe(true)
    expect((await play(() => {})).patches).toEqual([])
  })

  test('stays plain JSON: another change is refused as a whole', async () => {
    const { state, results } = await play((draft) => {
      draft.items.push('kept?')
      Object.assign(draft, { at: new Date() })
    })
    expect(results[0]).toContain('[tool-failed]')
    expect(state).toEqual({ items: ['x'] })
  })

  test('an error in the middle of an update changes nothing', async () => {
    const { state } = await play((draft) => {
      draft.items.push('lost')
      throw new Error('no')
    })
    expect(state).toEqual({ items: ['x'] })
  })
})

test('the caller may replace fields at the start of a turn', async () => {
  const agent = defineAgent({
    name: 'a',
    llmConfig: { model: {} },
    stateSchema: z.object({ a: z.number().default(1), b: z.number().default(2) }),
  })
  const { executor, store } = createHarness([say('ok'), say('ok')])
  const first = { message: 'x', state: { a: 10 } }
  await (await executor.execute(agent, first, { sessionId: 's' })).result()
  expect((await store.loadSession('s'))!.customState).toEqual({ a: 10, b: 2 })
  const second = { message: 'y', state: { b: 20 } }
  await (await executor.execute(agent, second, { sessionId: 's' })).result()
  expect((await store.loadSession('s'))!.customState).toEqual({ a: 10, b: 20 })
})
