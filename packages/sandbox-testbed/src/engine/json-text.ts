/** The text or number at a place in a JSON answer, as text. */
export function textAt(answer: unknown, path: ReadonlyArray<string | number>): string | undefined {
  let value = answer
  for (const step of path) {
    if (typeof value !== 'object' || value === null) return undefined
    value = Reflect.get(value, step)
  }
  return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined
}
