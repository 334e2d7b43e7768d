type OnDemand = typeof import('./on-demand.ts')

let loaded: OnDemand | undefined

/**
 * What the tools of workspaces do: it is loaded with the first call of one. What could not be loaded is
 * tried again by the next call.
 */
export async function onDemand(): Promise<OnDemand> {
  loaded ??= await import('./on-demand.ts')
  return loaded
}
