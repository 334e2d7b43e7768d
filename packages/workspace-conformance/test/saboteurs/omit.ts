/** A plain object without some of its properties. */
export function omit<T extends object>(value: T, ...keys: readonly (keyof T)[]): T {
  const dropped = new Set<PropertyKey>(keys)
  return Object.fromEntries(Object.entries(value).filter(([key]) => !dropped.has(key))) as T
}
