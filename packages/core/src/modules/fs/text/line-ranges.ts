/** Line numbers from 1, both ends included. */
export type LineRange = readonly [first: number, last: number]

/** More gaps than this are not remembered; reading again is always possible. */
const MAX_RANGES = 100

/** Adds a range to ranges that are sorted and apart; touching ones become one. */
export function addRange(ranges: readonly LineRange[], added: LineRange): readonly LineRange[] {
  if (added[1] < added[0]) return ranges
  const before = ranges.filter((range) => range[1] < added[0] - 1)
  const after = ranges.filter((range) => range[0] > added[1] + 1)
  const touching = ranges.slice(before.length, ranges.length - after.length)
  const first = Math.min(added[0], touching[0]?.[0] ?? added[0])
  const last = Math.max(added[1], touching.at(-1)?.[1] ?? added[1])
  return [...before, [first, last] as const, ...after].slice(-MAX_RANGES)
}

/** Whether one of the ranges holds all these lines. */
export function coversRange(ranges: readonly LineRange[], wanted: LineRange): boolean {
  return ranges.some((range) => range[0] <= wanted[0] && wanted[1] <= range[1])
}

/** What stays known when lines from `edited` on have changed, and these are known anew. */
export function rangesAfterEdit(
  ranges: readonly LineRange[],
  edited: LineRange,
): readonly LineRange[] {
  const above = ranges
    .filter((range) => range[0] < edited[0])
    .map((range): LineRange => [range[0], Math.min(range[1], edited[0] - 1)])
  return addRange(above, edited)
}
