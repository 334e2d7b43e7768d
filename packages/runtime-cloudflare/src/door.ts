import { DurableExecutor } from './run/durable-executor.ts'

type OnDemand = typeof import('./on-demand.ts')

let loaded: OnDemand | undefined

/**
 * What few requests use: it is loaded with the first of them, and so is what the executor then needs.
 * Before the session is looked at: meanwhile it may have become that of another caller.
 */
export async function onDemand(): Promise<OnDemand> {
  if (loaded !== undefined) return loaded
  const [parts] = await Promise.all([import('./on-demand.ts'), DurableExecutor.loadOnDemand()])
  loaded = parts
  return parts
}
