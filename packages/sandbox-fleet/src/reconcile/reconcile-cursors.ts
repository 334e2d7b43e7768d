import * as z from 'zod'
import type { FleetContext } from '../fleet-context.ts'
import { stateKey } from '../fleet-stats.ts'
import type { ReconcileAction } from './reconcile-report.ts'

const STATE = 'reconcile-cursors'

/** By provider, where the next pass resumes; absent where it starts over. */
export type ReconcileCursors = Readonly<Record<string, string>>

const cursorsSchema = z.record(z.string(), z.string())

/** Records of the ledger that were read at once, and what is to be done about them. */
export interface ReconcilePage {
  readonly provider: string
  /** Where it begins, and where the next one does; absent at the start and at the end. */
  readonly from?: string
  readonly next?: string
  readonly actions: readonly ReconcileAction[]
}

/** Where the last pass stopped, since it reached its limit. @throws {FleetError} `unavailable` */
export async function readCursors(context: FleetContext): Promise<ReconcileCursors> {
  const state = await context.store.readState(stateKey(context, STATE))
  const result = cursorsSchema.safeParse(state)
  return result.success ? result.data : {}
}

/** @throws {FleetError} `unavailable` */
export function writeCursors(context: FleetContext, cursors: ReconcileCursors): Promise<void> {
  return context.store.writeState(stateKey(context, STATE), { ...cursors })
}

/** Where to continue: with the first page of each provider that has work left. */
export function cursorsAfter(
  pages: readonly ReconcilePage[],
  isDone: (action: ReconcileAction) => boolean,
): ReconcileCursors {
  const cursors: Record<string, string> = {}
  const unfinished = new Set<string>()
  for (const { actions, from, next, provider } of pages) {
    if (unfinished.has(provider)) continue
    const isLeft = !actions.every(isDone)
    if (isLeft) unfinished.add(provider)
    const cursor = isLeft ? from : next
    if (cursor === undefined) delete cursors[provider]
    else cursors[provider] = cursor
  }
  return cursors
}
