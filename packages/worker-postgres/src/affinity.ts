import type { Agent } from '@helix-agents/core'
import type { SessionState, SessionStateStore } from '@helix-agents/core/runtime'
import type { ClaimAffinity } from './claim-text.ts'
import type { SessionHomes } from './session-homes.ts'

export interface AffinityParts extends ClaimAffinity {
  readonly homes: SessionHomes
  readonly stateStore: Pick<SessionStateStore, 'loadSession'>
  /** Kinds of workspaces whose files are on one machine. */
  readonly kinds: readonly string[]
  /** Now, in milliseconds since the epoch. */
  readonly now: () => number
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

  /**
   * A run of the session has begun here: if its machine dies and comes back, the session continues there.
   * Until its end nobody knows which workspaces it opens, so all count.
   */
  async begin(agent: Agent, sessionId: string): Promise<void> {
    const { homes, machine } = this.#parts
    const declared = this.#declaredBy(agent)
    if (declared.length === 0) return
    await homes.begin({ sessionId, machine, isMovable: areMovable(declared) })
  }

  /** A run of the session has stopped here: its next turn comes here as well, if files of it are here. */
  async stay(agent: Agent, sessionId: string): Promise<void> {
    const { homes, stateStore, machine } = this.#parts
    const declared = this.#declaredBy(agent)
    if (declared.length === 0) return
    const session = await stateStore.loadSession(sessionId)
    const opened = declared.filter(([name]) => session?.workspaceRefs[name] !== undefined)
    if (opened.length === 0) return homes.remove(sessionId)
    await homes.save({ sessionId, machine, isMovable: areMovable(opened) })
  }

  /**
   * The sessions among these that stay with another machine that lives → until when, as far as is known: it
   * may live on, and a movable one waits for a while only.
   */
  async elsewhere(sessions: readonly SessionState[]): Promise<ReadonlyMap<string, number>> {
    const { homes, machine, waitMs, now } = this.#parts
    if (sessions.length === 0) return new Map()
    const found = await homes.list(sessions.map(({ sessionId }) => sessionId))
    const homeOf = new Map(found.map((home) => [home.sessionId, home]))
    const away = sessions.flatMap(({ sessionId, status, leaseUntil = 0 }) => {
      const home = homeOf.get(sessionId)
      if (home === undefined || !home.isAlive || home.machine === machine) return []
      const livesUntil = now() + home.aliveForMs
      // A paused one waits for nobody else.
      const isWaiting = home.isMovable && status === 'running'
      const until = isWaiting ? Math.min(livesUntil, leaseUntil + waitMs) : livesUntil
      return until > now() ? [[sessionId, until] as const] : []
    })
    return new Map(away)
  }

  #declaredBy(agent: Agent): readonly Declared[] {
    return Object.entries(agent.workspaces ?? {}).filter(([, { provider }]) =>
      this.#parts.kinds.includes(provider.kind),
    )
  }
}

type Declared = readonly [name: string, workspace: NonNullable<Agent['workspaces']>[string]]

function areMovable(workspaces: readonly Declared[]): boolean {
  return workspaces.every(([, { history }]) => history !== undefined)
}
