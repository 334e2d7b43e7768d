import type { Agent } from '@helix-agents/core'
import type { RunServices } from '../../ports.ts'
import { createImportRecord, importIdOf } from './import-record.ts'
import { Making } from '../making.ts'
import { assertReleased } from '../released-limit.ts'
import { tryCollect } from '../release-workspaces.ts'

/**
 * One import of a session: what it is about to make is recorded before it is there. When its process
 * dies, a collection of the record frees that.
 */
export class ImportAttempt {
  readonly making: Making
  readonly #services: RunServices
  readonly #agent: Agent
  readonly #id: string
  readonly #intent: number

  private constructor(
    { services, agent }: { readonly services: RunServices; readonly agent: Agent },
    { id, sessionId, intent }: Record<'id' | 'sessionId', string> & { readonly intent: number },
  ) {
    this.#services = services
    this.#agent = agent
    this.#id = id
    this.#intent = intent
    this.making = new Making(services, { sessionId: id, branchId: sessionId })
  }

  /** @throws {WorkspaceFailedError} `provider-failed`: what earlier attempts left cannot be freed. */
  static async begin(
    services: RunServices,
    agent: Agent,
    sessionId: string,
  ): Promise<ImportAttempt> {
    const { stateStore, clock } = services
    const id = importIdOf(sessionId)
    await createImportRecord(services, agent, sessionId)
    await assertReleased(services, agent, { sessionId: id, agentType: agent.name })
    const intent = await stateStore.recordReleased(id, { branchId: sessionId }, clock.now())
    return new ImportAttempt({ services, agent }, { id, sessionId, intent })
  }

  /** The session is stored: whatever else was made for it is freed, also that of earlier attempts. */
  async end(): Promise<void> {
    await tryCollect(this.#services, this.#agent, { sessionId: this.#id, graceMs: 0 })
  }

  /** Nothing of this attempt is there any more. Another one may be under way. */
  async forget(): Promise<void> {
    const { stateStore } = this.#services
    await stateStore.forgetReleased(this.#id, [this.#intent, ...this.making.ids])
    const { released } = await stateStore.loadHistory(this.#id)
    if (released.length === 0) await stateStore.deleteSession(this.#id)
  }
}
