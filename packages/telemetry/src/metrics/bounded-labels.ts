/** Stands for the value of each label of a series that found no place. */
const OTHER = 'other'

/**
 * Bounds how many series one metric may have. Labels are names from agent definitions and closed
 * sets; only an application that makes up names at run time gets here. What found no place once
 * never gets one later, so that a gauge goes down in the series in which it went up.
 */
export class BoundedLabels {
  readonly #maxSeries: number
  readonly #names: readonly string[]
  readonly #known = new Map<string, Readonly<Record<string, string>>>()
  readonly #others: Readonly<Record<string, string>>

  constructor(names: readonly string[], maxSeries: number) {
    this.#names = names
    this.#maxSeries = maxSeries
    this.#others = Object.fromEntries(names.map((name) => [name, OTHER]))
  }

  /** The labels for values in the order of the names; the same object for the same values. */
  of(...values: readonly string[]): Readonly<Record<string, string>> {
    const key = values.join('\0')
    const known = this.#known.get(key)
    if (known !== undefined) return known
    if (this.#known.size >= this.#maxSeries) return this.#others
    const labels = Object.fromEntries(this.#names.map((name, at) => [name, values[at] ?? '']))
    this.#known.set(key, labels)
    return labels
  }
}
