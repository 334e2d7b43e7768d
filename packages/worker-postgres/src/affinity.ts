import type { Agent } from '@helix-agents/core'
import type { SessionStateStore } from '@helix-agents/core/runtime'
import type { ClaimAffinity } from './claim-text.ts'
import type { SessionHomes } from './session-homes.ts'

export interface AffinityParts extends ClaimAffinity {
  readonly homes: SessionHomes
  readonly stateStore: Pick<SessionStateStore, 'loadSession'>
  /** Kinds of workspaces whose files are on one machine. */
  readonly kinds: readonly string[]
}

/** Lets sessions stay with the machine that has their files. */
export class Affinity {
  readonly #parts: AffinityParts

  constructor(parts: AffinityParts) {
    this.#parts = parts
  }

  /** The claim of pg-boss, without turns of sessions that stay elsewhere. */
  restrict(claim: string): string {
    return this.#parts.homes.restrict(claim, this.#parts)
  }

  /** A run of the session has stopped here: its next turn comes here as well, if files of it are here. */
  async stay(agent: Agent, sessionId: string): Promise<void> {
    const { homes, stateStore, kinds, machine } = this.#parts
    const declared = Object.entries(agent.workspaces ?? {}).filter(([, { provider }]) =>
      kinds.includes(provider.kind),
    )
    if (declared.length === 0) return
    const session = await stateStore.loadSession(sessionId)
    const opened = declared.filter(([name]) => session?.workspaceRefs[name] !== undefined)
    if (opened.length === 0) return homes.remove(sessionId)
    const isMovable = opened.every(([, { history }]) => history !== undefined)
    await homes.save({ sessionId, machine, isMovable })
  }

  /** The sessions among these that stay with another machine that lives. */
  async elsewhere(sessionIds: readonly string[]): Promise<ReadonlySet<string>> {
    const { homes, machine } = this.#parts
    if (sessionIds.length === 0) return new Set()
    const away = (await homes.list(sessionIds)).filter(
      (home) => home.isAlive && home.machine !== machine,
    )
    return new Set(away.map(({ sessionId }) => sessionId))
  }
}
