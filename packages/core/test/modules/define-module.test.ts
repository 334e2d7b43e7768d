import { expect, it, vi } from 'vitest'
import * as z from 'zod'
import {
  type ModuleToolCall,
  type ModuleToolWork,
  toolsFor,
} from '../../src/modules/define-module.ts'

interface Counter {
  add(by: number): number
}

const work: ModuleToolWork<Counter, object, { readonly by: number }, { readonly sum: number }> = {
  execute: async ({ module, input }) => ({ sum: module.add(input.by) }),
  toModelOutput: ({ sum }) => `the sum is ${sum}`,
}

function addTool(load: () => Promise<typeof work>) {
  return toolsFor<Counter, object>()({
    name: 'add',
    description: 'Add.',
    inputSchema: () => z.strictObject({ by: z.number() }),
    annotations: { readOnly: false, destructive: false, idempotent: false },
    load,
  })
}

function callWith(by: number): ModuleToolCall<Counter, object, unknown> {
  const module = { add: (value: number) => value + 40 }
  // The tool takes neither its context nor its config.
  return { module, input: { by }, config: {} } as ModuleToolCall<Counter, object, unknown>
}

it('loads the work of a tool with its first call, once', async () => {
  const load = vi.fn<() => Promise<typeof work>>(async () => work)
  const tool = addTool(load)
  expect(tool.inputSchema.safeParse({ by: 1 }).success).toBe(true)
  expect(load).not.toHaveBeenCalled()
  expect(await tool.execute(callWith(2))).toEqual({ sum: 42 })
  expect(await tool.execute(callWith(3))).toEqual({ sum: 43 })
  expect(tool.toModelOutput({ sum: 43 })).toBe('the sum is 43')
  expect(load).toHaveBeenCalledOnce()
})

it('shows the JSON of an output whose call ran in another process', () => {
  expect(addTool(async () => work).toModelOutput({ sum: 7 })).toBe('{"sum":7}')
})

it('loads again after a load that failed', async () => {
  const load = vi
    .fn<() => Promise<typeof work>>(async () => work)
    .mockRejectedValueOnce(new Error('no network'))
  const tool = addTool(load)
  await expect(tool.execute(callWith(1))).rejects.toThrow('no network')
  expect(await tool.execute(callWith(1))).toEqual({ sum: 41 })
})
