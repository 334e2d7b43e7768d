// Which sandboxes the table shows, and in which order.
import type { WireSandbox } from '../../http/wire.ts'
import { isActive, ownerOf, severityOf } from './facts.ts'

/** What the page is asked to show. */
export interface Selection {
  /** A status, `active` or `all`. */
  readonly status: string
  /** Words in the id, the owner or the provider. */
  readonly search: string
  readonly onlyAttention: boolean
}

export function isSelected(sandbox: WireSandbox, selection: Selection): boolean {
  const { onlyAttention, search } = selection
  if (!hasStatus(sandbox, selection)) return false
  if (onlyAttention && severityOf(sandbox) === 0) return false
  const words = `${sandbox.id} ${ownerOf(sandbox)} ${sandbox.provider}`.toLowerCase()
  return words.includes(search.trim().toLowerCase())
}

function hasStatus(sandbox: WireSandbox, { status }: Selection): boolean {
  if (status === 'active') return isActive(sandbox)
  return status === 'all' || sandbox.status === status
}

export interface Sorting {
  readonly sortBy: (sandbox: WireSandbox) => number | string
  readonly descending: boolean
}

/** Without a sorting, what is worst comes first, and of that what is oldest. */
export function compareSandboxes(a: WireSandbox, b: WireSandbox, sorting?: Sorting): number {
  if (sorting === undefined) {
    return severityOf(b) - severityOf(a) || b.age_minutes - a.age_minutes
  }
  const { descending, sortBy } = sorting
  const [left, right] = [sortBy(a), sortBy(b)]
  const order = left < right ? -1 : Number(left > right)
  return (descending ? -order : order) || (a.id < b.id ? -1 : 1)
}
