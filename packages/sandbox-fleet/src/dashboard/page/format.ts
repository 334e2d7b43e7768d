/** `45 s`, `12 min`, `3.5 h`, `2.1 d` */
export function formatMinutes(minutes: number): string {
  if (minutes < 1) return `${Math.max(0, Math.round(minutes * 60))} s`
  if (minutes < 120) return `${Math.round(minutes)} min`
  if (minutes < 48 * 60) return `${trim(minutes / 60)} h`
  return `${trim(minutes / 1440)} d`
}

export function formatPercent(share: number): string {
  return `${Math.round(share * 100)} %`
}

/** `in 40 s` or `3 min ago`. */
export function formatWhen(iso: string | null, nowMs: number): string {
  if (iso === null) return 'never'
  const minutes = (Date.parse(iso) - nowMs) / 60_000
  return minutes >= 0 ? `in ${formatMinutes(minutes)}` : `${formatMinutes(-minutes)} ago`
}

function trim(value: number): string {
  return value.toFixed(1).replace(/\.0$/, '')
}
