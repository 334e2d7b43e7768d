import { loadOnDemand } from '@helix-agents/core/runtime'
import { onDemand } from './door.ts'

/**
 * Loads what is otherwise loaded with its first use: all but running agents that call no tools. For a
 * process whose files a deployment replaces.
 */
export async function preload(): Promise<void> {
  await Promise.all([onDemand(), loadOnDemand()])
}
