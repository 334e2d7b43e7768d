import { type OpenedWorkspace, logMessages, type SessionRef } from '@helix-agents/core/provider'
import type { WorkspaceRef } from '@helix-agents/core/provider'
import type { RunServices } from '../ports.ts'
import type { BranchIntent, ReleasedRef } from '@helix-agents/core/runtime'

/** The session that what is made is recorded with. */
interface MakingFor {
  readonly sessionId: string
  /** It is made for a branch of that session, which is not stored yet. Default: for the session. */
  readonly branchId?: string
}

/**
 * Backends that are about to be made, by providers that cannot list them. Each is recorded with a stored
 * session before it is there, so that a collection frees what a process that died has left.
 */
export class Making {
  readonly #services: Pick<RunServices, 'stateStore' | 'clock'>
  readonly #for: MakingFor
  readonly #ids: number[] = []
  #isLeft = false

  constructor(services: Pick<RunServices, 'stateStore' | 'clock'>, given: MakingFor) {
    this.#services = services
    this.#for = given
  }

  /** For the option `onMaking` of what is made for a workspace. */
  of(workspace: string): (ref: WorkspaceRef) => Promise<void> {
    const { stateStore, clock } = this.#services
    const { sessionId, branchId } = this.#for
    return async (ref) => {
      const made = { workspace, ref }
      const released: ReleasedRef | BranchIntent =
        branchId === undefined ? made : { branchId, made }
      this.#ids.push(await stateStore.recordReleased(sessionId, released, clock.now()))
    }
  }

  /** One that is not used could not be freed, or may have been made although that failed. */
  markLeft(): void {
    this.#isLeft = true
  }

  /** Whether something that nobody uses may still be there. */
  get isLeft(): boolean {
    return this.#isLeft
  }

  /** Ids of the records, for when the session has the refs of what was made. */
  get ids(): readonly number[] {
    return this.#ids
  }
}

/** Says to a ledger of backends that one is there and waits for its session. */
export function reportWaiting(
  { lifecycle, logger }: Pick<RunServices, 'lifecycle' | 'logger'>,
  { ws, ref, receipt }: OpenedWorkspace,
  of: { readonly workspace: string; readonly session: SessionRef },
): void {
  const { agentType, sessionId } = of.session
  const event = {
    workspace: of.workspace,
    session: { agentType, sessionId },
    providerId: ref.providerId,
    workspaceId: ws.id,
    ref,
  }
  try {
    lifecycle?.onOpen?.({ ...event, receipt })
    lifecycle?.onClose?.({ ...event, mode: 'detach' })
  } catch (err) {
    logger.error({ err }, logMessages.lifecycleListenerFailed)
  }
}
