import type { RegistryContext } from './registry-context.ts'
import { moveEntry, type RegistryEntry } from './registry-entry.ts'

/**
 * Whether a failed workspace may be opened again without an operator: its error was one that
 * passes by itself, or the cooldown is over.
 */
export function mayReopen(entry: RegistryEntry, context: RegistryContext): boolean {
  if (entry.failure === undefined || entry.failure.error.transient) return true
  if (context.resetAfterMs === undefined) return false
  return context.clock.now() - entry.failure.at >= context.resetAfterMs
}

/** The operator's way out of `failed`; in every other state there is nothing to reset. */
export function resetEntry(entry: RegistryEntry, context: RegistryContext): void {
  if (entry.state !== 'failed') return
  delete entry.failure
  moveEntry(entry, 'reset', context)
}
