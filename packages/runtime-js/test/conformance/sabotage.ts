// Ways to break one part of an executor and to leave the rest as it is.
import type { Agent, Clock, LLMAdapter, Tool, ToolContext } from '@helix-agents/core'
import type { Workspace, WorkspaceProvider } from '@helix-agents/core/provider'
import type { SessionStateStore, StreamChunk, StreamManager } from '@helix-agents/core/runtime'
import type { AgentExecutor, RunHandle } from '@helix-agents/workspace-conformance/executor'
import { createExecutor, type ProcessParts, type Sabotage } from './executor-scenario.ts'

/** A copy of an object with some members replaced; methods keep their own `this`. */
export function override<T extends object>(good: T, broken: Partial<T>): T {
  return new Proxy(good, {
    get: (target, key) => {
      if (Object.hasOwn(broken, key)) return Reflect.get(broken, key)
      const value: unknown = Reflect.get(target, key)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

export function withStore(
  sabotage: (good: SessionStateStore) => Partial<SessionStateStore>,
): Sabotage {
  return (parts) =>
    createExecutor({ ...parts, store: override(parts.store, sabotage(parts.store)) })
}

export function withStreams(sabotage: (good: StreamManager) => Partial<StreamManager>): Sabotage {
  return (parts) =>
    createExecutor({ ...parts, streams: override(parts.streams, sabotage(parts.streams)) })
}

export function withModel(generate: (good: LLMAdapter) => LLMAdapter['generateStep']): Sabotage {
  return (parts) => createExecutor({ ...parts, model: { generateStep: generate(parts.model) } })
}

export function withClock(broken: Partial<Clock>): Sabotage {
  return (parts) => createExecutor({ ...parts, clock: override(parts.clock, broken) })
}

export function withExecutor(
  sabotage: (good: AgentExecutor, parts: ProcessParts) => Partial<AgentExecutor>,
): Sabotage {
  return (parts) => {
    const good: AgentExecutor = createExecutor(parts)
    return override(good, sabotage(good, parts))
  }
}

/** Each run starts with another agent than the caller gave. */
export function withAgent(change: (agent: Agent) => Agent): Sabotage {
  return withExecutor((good) => ({
    execute: (agent, input, options) => good.execute(change(agent), input, options),
    resume: (agent, sessionId) => good.resume(change(agent), sessionId),
  }))
}

export function withTools(change: (tool: Tool) => Tool): Sabotage {
  return withAgent((agent) => ({ ...agent, tools: agent.tools.map(change) }))
}

/** Tools get another context than the runtime gave. */
export function withContext(change: (context: ToolContext) => ToolContext): Sabotage {
  return withTools((tool) => ({
    ...tool,
    execute: (input, context) => tool.execute(input, change(context)),
  }))
}

export function withHandle(sabotage: (good: RunHandle) => Partial<RunHandle>): Sabotage {
  return withExecutor((good) => ({
    execute: async (...args) => {
      const handle = await good.execute(...args)
      return override(handle, sabotage(handle))
    },
  }))
}

/** Only the chunks that pass reach the stream. */
export function withChunks(passes: (chunk: StreamChunk) => boolean): Sabotage {
  return (parts) => {
    const startRun: StreamManager['startRun'] = async (...args) => {
      const writer = await parts.streams.startRun(...args)
      return {
        write: async (chunk) => {
          if (passes(chunk)) await writer.write(chunk)
        },
      }
    }
    return createExecutor({ ...parts, streams: override(parts.streams, { startRun }) })
  }
}

export function withWorkspace(sabotage: (good: Workspace) => Partial<Workspace>): Sabotage {
  return (parts) => {
    const open: WorkspaceProvider['open'] = async (...args) => {
      const opened = await parts.provider.open(...args)
      return { ...opened, ws: override(opened.ws, sabotage(opened.ws)) }
    }
    return createExecutor({ ...parts, provider: override(parts.provider, { open }) })
  }
}
