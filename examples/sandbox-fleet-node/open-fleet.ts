import { join } from 'node:path'
import { Fleet, type FleetPolicyInput } from '@helix-agents/sandbox-fleet'
import { LocalBashFleetDriver, openSqliteFleetStore } from '@helix-agents/sandbox-fleet/node'
import { LocalBashInventory } from '@helix-agents/workspace-local-bash/operate'
import { fastClock } from './fast-clock.ts'

/** Where a fleet lives. */
export interface FleetPlace {
  readonly folder: string
  /** When the story began, in milliseconds since the epoch. */
  readonly startedAt: number
}

/** Below this the agents have their workspaces. */
export function workspacesOf({ folder }: FleetPlace): string {
  return join(folder, 'workspaces')
}

/** The fleet on this host. Its ledger is a file that all processes of the deployment share. */
export async function openFleet(place: FleetPlace, policy: FleetPolicyInput = {}) {
  const { store, close } = await openSqliteFleetStore(join(place.folder, 'fleet.db'))
  const inventory = new LocalBashInventory({ tmpdirRoot: workspacesOf(place) })
  const environment = 'story'
  const fleet = new Fleet({
    store,
    drivers: [new LocalBashFleetDriver({ inventory, environment })],
    environment,
    // Ten seconds of the wall for each call: processes do not end any faster here.
    policy: { callTimeoutMs: 600_000, terminateTimeoutMs: 600_000, ...policy },
    clock: fastClock(place.startedAt),
  })
  return { fleet, inventory, close }
}
