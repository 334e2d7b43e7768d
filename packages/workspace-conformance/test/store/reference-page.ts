import { StateStoreError } from '@helix-agents/core'
import type { Page, PageQuery } from '@helix-agents/core/runtime'

export function pageOf<T>(
  entries: readonly { readonly at: number; readonly item: T }[],
  query: PageQuery,
): Page<T> {
  const limit = Math.min(count(query.limit, 1) ?? 50, 200)
  const below = query.cursor === undefined ? Infinity : Number(query.cursor || 'x')
  if (Number.isNaN(below)) throw new StateStoreError('invalid-query', '', 'cursor')
  const rest = entries.filter(({ at }) => at < below).toReversed()
  const page = rest.slice(0, limit)
  return {
    items: page.map(({ item }) => item),
    ...(rest.length > limit && { nextCursor: String(page.at(-1)!.at) }),
  }
}

export function count(value: number | undefined, least: number): number | undefined {
  if (value === undefined || (Number.isSafeInteger(value) && value >= least)) return value
  throw new StateStoreError('invalid-query', '', 'number')
}
