import type { FleetStore } from '@helix-agents/sandbox-fleet'
import type { SimulatedProvider } from './simulated-provider.ts'
import { ENVIRONMENT, type World } from './world.ts'

/** Nothing of ours is left, and the ledger says the same. */
export async function isAtRest(
  store: FleetStore,
  providers: readonly SimulatedProvider[],
): Promise<boolean> {
  const left = providers.flatMap(({ sandboxes }) => [...sandboxes.values()])
  if (left.some(({ environment }) => environment === ENVIRONMENT)) return false
  const { records } = await store.list({ limit: 200 })
  return records.every(({ status }) => status === 'terminated')
}

/** After the bound nothing of ours is left, nothing is owed, and the others are untouched. */
export async function checkRest(
  world: World,
  store: FleetStore,
  providers: readonly SimulatedProvider[],
  foreign: readonly string[],
): Promise<void> {
  for (const provider of providers) {
    for (const { id, environment } of provider.sandboxes.values()) {
      if (environment === ENVIRONMENT) world.violate(`${id} leaked at ${provider.name}`)
    }
  }
  const { records } = await store.list({ limit: 200 })
  for (const { id, status } of records) {
    if (status !== 'terminated') world.violate(`the ledger has ${id} as ${status}`)
  }
  const counts = await store.counts(ENVIRONMENT)
  if (counts.created !== counts.destroyed) world.violate(`counts: ${JSON.stringify(counts)}`)
  for (const id of foreign) {
    if (!providers[0]!.sandboxes.has(id)) world.violate(`${id} is not ours and gone`)
  }
}
