// What the objects of the tests do. Tests and objects share one isolate, and so this module.
import {
  type Agent,
  defineTool,
  type Message,
  type StepInput,
  type StepResult,
  type Tool,
} from '@helix-agents/core'
import type { WorkspaceProvider } from '@helix-agents/core/provider'
import type { WorkspaceLifecycleListener } from '@helix-agents/core/runtime'
import type { ServerHooks } from '@helix-agents/runtime-cloudflare'

/** How far the clock of all objects is from that of the machine. */
export const clockError = { ms: 0 }

/** The answer of the model, from the conversation. */
export type Brain = (
  messages: readonly Message[],
  input: StepInput,
) => StepResult | Promise<StepResult>

export interface Script {
  readonly brain: Brain
  readonly tools?: readonly Tool[] | ((ctx: DurableObjectState) => readonly Tool[])
  readonly hooks?: ServerHooks
  /** Hears what happens to the workspaces. */
  readonly lifecycle?: WorkspaceLifecycleListener
  /** Beside those that the objects have. */
  readonly providers?: (storage: DurableObjectStorage) => readonly WorkspaceProvider[]
  /** In place of those that the objects have. */
  readonly agents?: (ctx: DurableObjectState) => readonly Agent[]
}

/** By session. */
export const scripts = new Map<string, Script>()

export const say = (content: string): StepResult => ({ type: 'text', content, shouldStop: true })

export const use = (name: string, input: object = {}, id = name): StepResult => ({
  type: 'tool_calls',
  toolCalls: [{ id, name, arguments: input }],
})

export interface Gate {
  /** It has been reached. */
  readonly begun: Promise<void>
  readonly open: () => void
  /** What goes through it. */
  readonly pass: (signal?: AbortSignal) => Promise<void>
}

/** Looks again and again: a promise of one object must not be settled by another. */
async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await new Promise((resolve) => setTimeout(resolve, 1))
}

/** Stops who comes until it is opened, or the signal aborts. */
export function createGate(): Gate {
  const state = { isOpen: false, hasBegun: false }
  return {
    get begun() {
      return until(() => state.hasBegun)
    },
    open: () => void (state.isOpen = true),
    pass: async (signal) => {
      state.hasBegun = true
      await until(() => state.isOpen || signal?.aborted === true)
    },
  }
}

/** A tool that waits at a gate, and says when it has begun. */
export function waitTool(gate: Gate): Tool {
  return defineTool({
    name: 'wait',
    description: 'Waits.',
    inputSchema: { type: 'object' },
    annotations: { readOnly: true },
    execute: async (_, { abortSignal }) => {
      await gate.pass(abortSignal)
      return 'waited'
    },
  })
}
