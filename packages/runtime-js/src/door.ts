type OnDemand = typeof import('./on-demand.ts')

let loaded: OnDemand | undefined

/**
 * What few programs use: it is loaded with its first use. Whoever needs a session to itself holds it
 * before. What could not be loaded is tried again by the next call.
 */
export async function onDemand(): Promise<OnDemand> {
  loaded ??= await import('./on-demand.ts')
  return loaded
}
