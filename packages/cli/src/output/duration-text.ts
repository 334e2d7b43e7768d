const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1000],
] as const

/** A duration in its largest fitting unit, as `3m` or `250ms`. */
export function toDurationText(ms: number): string {
  const rounded = Math.max(0, Math.round(ms))
  const unit = UNITS.find(([, size]) => rounded >= size)
  return unit === undefined ? `${rounded}ms` : `${Math.floor(rounded / unit[1])}${unit[0]}`
}

/** How long ago something was; `never` when it was not. */
export function toAgeText(at: number | undefined, now: number): string {
  return at === undefined ? 'never' : `${toDurationText(now - at)} ago`
}

/** A time as a person and a sort order like it; `?` for one that is no time. */
export function toTimeText(at: number): string {
  const date = new Date(at)
  return Number.isNaN(date.getTime()) ? '?' : date.toISOString().replace(/\.\d+Z$/, 'Z')
}
