import type { Agent } from '@helix-agents/core'
import {
  assertProvidersSupport,
  buildEffectiveTools,
  type EffectiveTools,
  injectWorkspaceTools,
  subAgentOf,
  type WorkspaceDeclaration,
} from '@helix-agents/core/runtime'
import type { WorkspaceProvider } from '@helix-agents/core/provider'

type WorkspaceProviders = ReadonlyMap<string, WorkspaceProvider>

type Declarations = Readonly<Record<string, WorkspaceDeclaration>>

/** The tools of an agent, and the workspaces behind them. */
export interface ToolSet {
  readonly tools: EffectiveTools
  /** All that the tools reach. */
  readonly declarations: Declarations
  /** Those that the session opens itself; the others are the parent's. */
  readonly own: Declarations
}

/** Builds the tools of each agent once: their schemas are not cheap. */
export class ToolSets {
  readonly #providers: WorkspaceProviders
  readonly #isolated = new WeakMap<Agent, ToolSet>()
  readonly #inherited = new WeakMap<ToolSet, WeakMap<Agent, ToolSet>>()

  constructor(providers: WorkspaceProviders) {
    this.#providers = providers
  }

  /**
   * The tools of an agent with its own workspaces only. Checks the agent and all its sub-agents.
   * @throws {WorkspaceFailedError} `config-invalid`, `capability-missing`
   */
  of(agent: Agent): ToolSet {
    const known = this.#isolated.get(agent)
    if (known !== undefined) return known
    const made = this.#build(agent, {})
    this.#isolated.set(agent, made)
    for (const tool of agent.tools) {
      const call = subAgentOf(tool)
      if (call !== undefined) this.of(call.agent)
    }
    return made
  }

  /** The tools of a sub-agent that shares its parent's workspaces. */
  inheriting(agent: Agent, parent: ToolSet): ToolSet {
    const ofParent = this.#inherited.get(parent) ?? new WeakMap<Agent, ToolSet>()
    this.#inherited.set(parent, ofParent)
    const known = ofParent.get(agent)
    if (known !== undefined) return known
    const made = this.#build(agent, parent.declarations)
    ofParent.set(agent, made)
    return made
  }

  #build(agent: Agent, inherited: Declarations): ToolSet {
    assertProvidersSupport(agent.workspaces, this.#providers)
    const declarations = { ...agent.workspaces, ...inherited }
    const own = Object.fromEntries(
      Object.entries(agent.workspaces).filter(([name]) => !Object.hasOwn(inherited, name)),
    )
    const providerOf = (name: string) =>
      this.#providers.get(declarations[name]?.provider.kind ?? '')
    const offered = (name: string) => providerOf(name)?.capabilities ?? {}
    const notesOf = (name: string) => providerOf(name)?.toolNotes
    const workspaceTools = injectWorkspaceTools(declarations, offered, notesOf)
    return { tools: buildEffectiveTools(agent, workspaceTools), declarations, own }
  }
}
