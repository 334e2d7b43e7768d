import type { BoundRow } from './bound-subject.ts'

const BYTES_PER_MB = 1_048_576

/** A Markdown table, one line a tool and provider: the longest hold and the highest peak. */
export function renderBoundTable(rows: readonly BoundRow[]): string {
  const groups = Map.groupBy(rows, ({ tool, provider }) => `${tool} | ${provider}`)
  const lines = [...groups.entries()].map(([key, group]) => {
    const slowest = group.reduce((a, b) => (b.holdMs > a.holdMs ? b : a))
    const largest = group.reduce((a, b) => (b.peakBytes > a.peakBytes ? b : a))
    const hold = `${slowest.holdMs.toFixed(0)} (${caseOf(slowest)})`
    const peak = `${(largest.peakBytes / BYTES_PER_MB).toFixed(0)} (${caseOf(largest)})`
    return `| ${key} | ${group.length} | ${hold} | ${peak} |`
  })
  const head = [
    '| tool | provider | cases | longest hold, ms | peak, MB |',
    '|---|---|---|---|---|',
  ]
  return [...head, ...lines.toSorted()].join('\n')
}

function caseOf({ behaviour }: BoundRow): string {
  return behaviour.slice(behaviour.lastIndexOf('/') + 1)
}
