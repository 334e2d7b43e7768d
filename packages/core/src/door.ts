type OnDemand = typeof import('./on-demand.ts')

let loaded: OnDemand | undefined

/**
 * What a person is shown, and what is done with snapshots: it is loaded with its first use. What could not
 * be loaded is tried again by the next call.
 */
export async function onDemand(): Promise<OnDemand> {
  loaded ??= await import('./on-demand.ts')
  return loaded
}
