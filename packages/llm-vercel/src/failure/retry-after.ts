/**
 * How long a provider asks to wait, in milliseconds: `retry-after-ms`, or `retry-after` as seconds
 * or as a date.
 */
export function readRetryAfter(
  headers: Readonly<Record<string, string>>,
  now: number,
): number | undefined {
  const ms = Number.parseFloat(headers['retry-after-ms'] ?? '')
  if (ms >= 0 && ms < Infinity) return ms
  const asked = headers['retry-after'] ?? ''
  const seconds = Number.parseFloat(asked)
  if (/^\s*\d/.test(asked) && seconds < Infinity) return seconds * 1000
  // A number that is no time would be read as a year.
  const date = /[a-z]/i.test(asked) ? Date.parse(asked) : Number.NaN
  return Number.isNaN(date) ? undefined : Math.max(0, date - now)
}
