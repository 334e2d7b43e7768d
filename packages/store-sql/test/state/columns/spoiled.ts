/** Is of no kind that is ever stored. */
const BAD = Symbol('bad')

/** Copies of a value, each with one part that is of another kind or, in an object, is missing. */
export interface Spoiled {
  readonly path: string
  readonly isMissing: boolean
  readonly value: unknown
}

/** One for each part of a value, and for the whole. */
export function spoiledOf(value: unknown): readonly Spoiled[] {
  return [{ path: '', isMissing: false, value: BAD }, ...partsOf(value)]
}

function partsOf(value: unknown): readonly Spoiled[] {
  if (typeof value !== 'object' || value === null) return []
  const copyWith = (name: string, part: unknown): unknown =>
    Array.isArray(value)
      ? value.map((old: unknown, index) => (`${index}` === name ? part : old))
      : { ...value, [name]: part }
  return Object.entries(value).flatMap(([name, part]) => [
    { path: name, isMissing: false, value: copyWith(name, BAD) },
    ...(Array.isArray(value) ? [] : [{ path: name, isMissing: true, value: without(value, name) }]),
    ...partsOf(part).map((inner) => ({
      ...inner,
      path: `${name}.${inner.path}`,
      value: copyWith(name, inner.value),
    })),
  ])
}

function without(value: object, name: string): unknown {
  return Object.fromEntries(Object.entries(value).filter(([each]) => each !== name))
}
