import {
  type Agent,
  defineAgent,
  defineTool,
  type OpenWorkspace,
  type ToolContext,
} from '@helix-agents/core'
import type {
  FileSystem,
  Shell,
  ShellRunOptions,
  Snapshotter,
  Workspace,
} from '@helix-agents/core/provider'
import { describe, expect, expectTypeOf, test } from 'vitest'
import * as z from 'zod'

const workspaces = {
  notes: { provider: { kind: 'in-memory' }, capabilities: { fs: true } },
  box: {
    provider: { kind: 'local-bash' },
    capabilities: { fs: true, shell: { allowedCommands: ['git'] }, snapshot: false },
  },
} as const
const stateSchema = z.object({ done: z.array(z.string()).default([]) })
const naming = { name: 'save', description: 'Saves.', inputSchema: z.object({ text: z.string() }) }

describe('a tool that names its workspaces', () => {
  const save = defineTool({
    ...naming,
    workspaces,
    execute: async ({ text }, context) => {
      await context.workspaces.use('notes', async ({ live }) => {
        expectTypeOf(live.fs).toEqualTypeOf<FileSystem>()
        expectTypeOf(live.shell).toEqualTypeOf<Shell | undefined>()
        await live.fs.writeFile('/a', text)
      })
      // @ts-expect-error -- the agent declares no such workspace
      await context.workspaces.use('nope', async () => {})
      return context.workspaces.use(
        'box',
        async ({ live }) => {
          expectTypeOf(live.shell).toEqualTypeOf<Shell>()
          expectTypeOf(live.snapshot).toEqualTypeOf<Snapshotter | undefined>()
          const { exitCode } = await live.shell.run('git status')
          return exitCode
        },
        { idempotent: true },
      )
    },
  })

  test('is a tool as any other', () => {
    const agent = defineAgent({ name: 'a', llmConfig: { model: 'm' }, workspaces, tools: [save] })
    expectTypeOf(agent).toExtend<Agent>()
    expect(agent.tools).toEqual([save])
  })

  test('is refused by an agent that declares the workspace without the module', () => {
    expect(() =>
      defineAgent({
        name: 'a',
        llmConfig: { model: 'm' },
        workspaces: { box: { provider: { kind: 'local-bash' }, capabilities: { fs: true } } },
        tools: [save],
      }),
    ).toThrow('tool save: it uses shell of workspace box, which does not declare it')
  })

  test('may use a workspace that only the parent of the agent declares', () => {
    const child = defineAgent({ name: 'child', llmConfig: { model: 'm' }, tools: [save] })
    expect(child.workspaces).toEqual({})
  })
})

test('workspaces that are declared in place are typed too', () => {
  defineTool({
    ...naming,
    workspaces: {
      box: { provider: { kind: 'any' }, capabilities: { shell: { background: true } } },
    },
    execute: (_input, context) =>
      context.workspaces.use('box', async ({ live }) => {
        expectTypeOf(live.shell).toEqualTypeOf<Shell>()
        expectTypeOf(live.fs).toEqualTypeOf<FileSystem | undefined>()
        return 'done'
      }),
  })
})

test('a capability that may be off may be absent', () => {
  const isOn: boolean = workspaces !== undefined
  defineTool({
    ...naming,
    workspaces: { box: { provider: { kind: 'any' }, capabilities: { fs: isOn } } },
    execute: (_input, context) =>
      context.workspaces.use('box', async ({ live }) => {
        expectTypeOf(live.fs).toEqualTypeOf<FileSystem | undefined>()
        return 'done'
      }),
  })
})

describe('the custom state', () => {
  test('has the type of the schema', () => {
    defineTool({
      ...naming,
      stateSchema,
      execute: ({ text }, { getState, updateState }) => {
        expectTypeOf(getState()).toEqualTypeOf<{ done: string[] }>()
        updateState((draft) => void draft.done.push(text))
        // @ts-expect-error -- the schema has no such field
        updateState((draft) => void draft.other)
        return getState().done.length
      },
    })
  })

  test('has the type that the caller names, where no schema is given', () => {
    defineTool({
      ...naming,
      execute: (_input, context) => {
        expectTypeOf(context.getState<{ n: number }>()).toEqualTypeOf<{ n: number }>()
        expectTypeOf(context.getState()).toEqualTypeOf<unknown>()
        return context.getState<{ n: number }>().n
      },
    })
  })
})

test('without a declaration any workspace may be used, and modules may be absent', () => {
  defineTool({
    ...naming,
    execute: (_input, context: ToolContext) =>
      context.workspaces.use('anything', async (open) => {
        expectTypeOf(open).toExtend<OpenWorkspace>()
        expectTypeOf(open.live).toExtend<Workspace>()
        expectTypeOf(open.live.fs).toEqualTypeOf<FileSystem | undefined>()
        return 'done'
      }),
  })
})

test('an agent knows the names of its workspaces, its state and its output', () => {
  const agent = defineAgent({
    name: 'a',
    llmConfig: { model: 'm' },
    stateSchema,
    outputSchema: z.object({ ok: z.boolean() }),
    systemPrompt: ({ done }) => `${done.length} done`,
    workspaces,
  })
  expectTypeOf(agent.workspaces.notes.name).toEqualTypeOf<string>()
  expectTypeOf(agent).toExtend<Agent<{ done: string[] }, { ok: boolean }>>()
  // @ts-expect-error -- no such workspace
  expect(agent.workspaces.nope).toBeUndefined()
})

test('a callback for output may be plain', () => {
  expectTypeOf<{ onStdout: (chunk: Uint8Array) => void }>().toExtend<ShellRunOptions>()
})
