import { failSpan, traced } from '../telemetry/traced.ts'
import type { Span } from '../telemetry/tracer.ts'
import type { RegistryContext } from './registry-context.ts'
import type { CloseMode } from './registry-deps.ts'
import type { RegistryEntry } from './registry-entry.ts'

type Open<T> = () => Promise<T>

/** Runs an open, or a resolve of what was open before, inside its span. */
export function tracedOpen<T>(
  entry: RegistryEntry,
  context: RegistryContext,
  open: Open<T>,
): Promise<T> {
  const action = entry.ref === undefined ? 'open' : 'resolve'
  return tracedAction(`helix.workspace.${action}`, entry, context, open)
}

/** Runs the resolve of another workspace that takes the place of the present one. */
export function tracedSwitch<T>(
  entry: RegistryEntry,
  context: RegistryContext,
  open: Open<T>,
): Promise<T> {
  return tracedAction('helix.workspace.resolve', entry, context, open)
}

/** The span tells what the open brought back, and after how many retries. */
function tracedAction<T>(
  name: string,
  entry: RegistryEntry,
  context: RegistryContext,
  open: Open<T>,
): Promise<T> {
  const { retries } = entry
  // Only the end of the registry stops an open.
  const { signal } = context.lifetime
  const describe = () => ({ name, attributes: attributesOf(entry), signal })
  return traced(context.tracer, describe, async (span) => {
    try {
      const opened = await open()
      span?.setAttribute('helix.workspace.outcome', entry.receipt?.outcome ?? 'created')
      return opened
    } finally {
      span?.setAttribute('helix.workspace.retries', entry.retries - retries)
    }
  })
}

/** What tells the span of a close that it failed. */
export type NoteFailure = (error: unknown) => void

/** Runs a close inside its span; one that has nothing to close gets none. */
export function tracedClose<T>(
  entry: RegistryEntry,
  mode: CloseMode,
  context: RegistryContext,
  close: (noteFailure: NoteFailure) => Promise<T>,
): Promise<T> {
  const tracer = isInUse(entry, mode) ? context.tracer : undefined
  const describe = () => ({
    name: 'helix.workspace.close',
    attributes: { ...attributesOf(entry), 'helix.workspace.close.mode': mode },
  })
  return traced(tracer, describe, (span?: Span) => close((error) => failSpan(span, error)))
}

function attributesOf({ name, labels }: RegistryEntry) {
  return { 'helix.workspace.name': name, 'helix.workspace.provider': labels.providerId }
}

function isInUse({ held, opening, switching, ref }: RegistryEntry, mode: CloseMode): boolean {
  return [held, opening, switching].some((part) => part !== undefined) || isStored(ref, mode)
}

/** What an earlier run left is closed too, but not detached. */
function isStored(ref: RegistryEntry['ref'], mode: CloseMode): boolean {
  return ref !== undefined && mode === 'end'
}
