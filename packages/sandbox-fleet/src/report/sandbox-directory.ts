import type { SandboxLabels } from '../ledger/sandbox-record.ts'
import type { FleetReporter } from './fleet-reporter.ts'

const PROVIDER = 'cloudflare-sandbox'

/** A sandbox as its provider describes it. `SandboxRecord` of workspace-cloudflare-sandbox fits. */
export interface DirectorySandbox {
  readonly sandboxId: string
  readonly session: { readonly sessionId: string; readonly agentType: string }
}

/** Where a provider writes down what it opens: `SandboxDirectory` of workspace-cloudflare-sandbox. */
export interface ReportingDirectory {
  recordOpening(sandbox: DirectorySandbox): Promise<void>
  recordDestroyed(sandbox: DirectorySandbox): Promise<void>
  recordDestroyFailed(sandbox: DirectorySandbox, cause: unknown): Promise<void>
}

/** Options of `createReportingDirectory`. */
export interface ReportingDirectoryOptions {
  /** Key of its sandboxes in the ledger. Default `cloudflare-sandbox`. */
  readonly provider?: string
  /** Further labels of a sandbox, such as its task or tenant. */
  readonly labels?: (sandbox: DirectorySandbox) => SandboxLabels
}

/**
 * Joins a provider that lists nothing to the fleet, for its option `directory`: a sandbox is in the
 * ledger before the platform creates it, or it is not created. Use it together with
 * `createLifecycleListener` on the same reporter, which reports that it runs and is in use: one
 * that is never reported as running is ended after its time to start.
 */
export function createReportingDirectory(
  reporter: FleetReporter,
  options: ReportingDirectoryOptions = {},
): ReportingDirectory {
  const { labels, provider = PROVIDER } = options
  return {
    recordOpening: (sandbox) => {
      const { agentType, sessionId } = sandbox.session
      const id = sandbox.sandboxId
      return reporter.admit({ id, provider, sessionId, agentType, ...labels?.(sandbox) })
    },
    recordDestroyed: async ({ sandboxId }) => reporter.closed(sandboxId),
    recordDestroyFailed: async ({ sandboxId, session }) =>
      reporter.owed(sandboxId, 'its destroy was not confirmed', session.sessionId),
  }
}
