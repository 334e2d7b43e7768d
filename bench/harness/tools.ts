import { defineAgent, noopLogger, type Tool, type ToolContext } from '@helix-agents/core'
import type { FileSystem, SessionRef, WorkspaceProvider } from '@helix-agents/core/provider'
import { injectWorkspaceTools, WorkspaceRegistry } from '@helix-agents/core/runtime'

const session: SessionRef = { sessionId: 'bench', agentType: 'bench' }
const capabilities = { fs: true } as const

/** Calls one injected tool the way a run does: parsed, by policy, through the registry. */
export function callTool(fs: FileSystem, name: string): (input: unknown) => Promise<unknown> {
  const agent = defineAgent({
    name: 'bench',
    llmConfig: { model: 'none' },
    workspaces: { box: { provider: { kind: 'bench' }, capabilities } },
  })
  const registry = new WorkspaceRegistry(agent.workspaces, {
    providers: new Map([['bench', providerOf(fs)]]),
    session,
    logger: noopLogger,
    persistRef: async () => {},
  })
  const tools = injectWorkspaceTools(agent.workspaces, () => ({ fs: true }))
  const tool = tools.find((one) => one.name === `workspace__box__${name}`)
  if (tool === undefined) throw new Error(`there is no tool ${name}`)
  const context = contextOf(registry)
  return async (input) => call(tool, input, context)
}

/** What a run does with the arguments and the result of one call. */
async function call(tool: Tool, input: unknown, context: ToolContext): Promise<unknown> {
  return tool.toModelOutput(await tool.execute(await tool.parse(input), context))
}

function providerOf(fs: FileSystem): WorkspaceProvider {
  const opened = {
    ws: { id: 'bench', isolation: 'none', fs, close: async () => {} },
    ref: { providerId: 'bench', schemaVersion: 1, capabilities: { fs: true }, ref: {} },
    receipt: { outcome: 'created' },
  } as const
  return {
    providerId: 'bench',
    capabilities: { fs: true },
    refSchemaVersion: 1,
    open: async () => opened,
    resolve: async () => opened,
  }
}

function contextOf(workspaces: WorkspaceRegistry): ToolContext {
  return {
    ...session,
    agentId: 'run',
    toolCallId: 'call',
    abortSignal: new AbortController().signal,
    workspaces,
    getState: () => {
      throw new Error('no state here')
    },
    updateState: () => {},
    emit: () => {},
    progress: () => {},
  }
}
