/**
 * A value as text in which field order and absent fields make no difference. Cursors are a matter
 * of each store: only whether there is one counts.
 */
export function canonical(value: unknown): string {
  if (value === undefined) return 'undefined'
  if (value instanceof Uint8Array) return `bytes(${[...value].join()})`
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const fields = Object.entries(value)
    .filter(([, field]) => field !== undefined)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, field]) => `${JSON.stringify(name)}:${name === 'nextCursor' || canonical(field)}`)
  return `{${fields.join()}}`
}
