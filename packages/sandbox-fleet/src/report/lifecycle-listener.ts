import type { WorkspaceRef } from '@helix-agents/core/provider'
import type {
  WorkspaceLifecycleEvent,
  WorkspaceLifecycleListener,
} from '@helix-agents/core/runtime'
import type { SandboxLabels } from '../ledger/sandbox-record.ts'
import type { FleetReporter } from './fleet-reporter.ts'

/** How the workspaces of one provider are sandboxes. */
export interface ReportedProvider {
  /**
   * What the end of a session does: `gone` when its provider destroys what backs it, `released`
   * when that stays, and sleeps or waits by itself.
   */
  readonly onEnd: 'gone' | 'released'
  /** The id of what backs a ref, for a close that never reached it. Default: such a close is not reported. */
  readonly idOf?: (ref: WorkspaceRef) => string | undefined
}

/** Options of `createLifecycleListener`. */
export interface LifecycleListenerOptions {
  /** The providers whose workspaces are sandboxes, by kind: others are not reported. */
  readonly providers: Readonly<Record<string, ReportedProvider>>
  /** Further labels of a sandbox, such as its task. */
  readonly labels?: (event: WorkspaceLifecycleEvent) => SandboxLabels
}

/** Joins the runtime to the fleet: for the option `lifecycle` of an executor. */
export function createLifecycleListener(
  reporter: FleetReporter,
  options: LifecycleListenerOptions,
): WorkspaceLifecycleListener {
  const { labels, providers } = options
  const providerOf = ({ providerId }: WorkspaceLifecycleEvent): ReportedProvider | undefined =>
    Object.hasOwn(providers, providerId) ? providers[providerId] : undefined
  return {
    onOpen: (event) => {
      if (providerOf(event) === undefined) return
      const { providerId: provider, session, workspaceId: id } = event
      const { agentType, sessionId } = session
      reporter.opened({ id, provider, sessionId, agentType, ...labels?.(event) })
    },
    onActivity: (event) => {
      const { succeeded, timedOut, workspaceId } = event
      if (providerOf(event) !== undefined) reporter.activity(workspaceId, { succeeded, timedOut })
    },
    onClose: (event) => {
      const provider = providerOf(event)
      if (provider === undefined) return
      const { sessionId } = event.session
      if (event.mode === 'detach') reporter.detached(event.workspaceId, sessionId)
      else if (provider.onEnd === 'gone') reporter.closed(event.workspaceId, sessionId)
      else reporter.released(event.workspaceId, sessionId)
    },
    onOwed: (event) => {
      const provider = providerOf(event)
      const { reason, ref, workspaceId } = event
      const id = workspaceId ?? (ref === undefined ? undefined : provider?.idOf?.(ref))
      const detail = reason === 'timeout' ? 'its close timed out' : 'its close failed'
      if (provider !== undefined && id !== undefined) {
        reporter.owed(id, detail, event.session.sessionId)
      }
    },
  }
}
