import type { AnalyticsDataset } from '@helix-agents/sandbox-fleet'
import type { FleetDirectory } from '@helix-agents/sandbox-fleet/cloudflare'
import type { TaskSandbox } from './task-sandbox.ts'

/** Bindings of wrangler.jsonc. */
export interface Env {
  readonly FLEET: DurableObjectNamespace<FleetDirectory>
  readonly SANDBOX: DurableObjectNamespace<TaskSandbox>
  readonly ENVIRONMENT: string
  /** A secret. */
  readonly FLEET_TOKEN: string
  /** Absent on a machine of your own. */
  readonly EVENTS?: AnalyticsDataset
}
