/** What a file speaks of: the words of its names and texts. */
type Words = ReadonlySet<string>

/**
 * How much a file of tests speaks of what a source speaks of. A word that they share counts the more,
 * the fewer tests have it; a test that speaks of everything is nearest to nothing.
 */
export class Affinity {
  readonly #wordsOf = new Map<string, Words>()
  readonly #testsWith = new Map<string, number>()
  readonly #tests: number
  readonly #read: (file: string) => string

  constructor(tests: readonly string[], read: (file: string) => string) {
    this.#read = read
    this.#tests = tests.length
    for (const word of tests.flatMap((test) => [...this.#words(test)])) {
      this.#testsWith.set(word, (this.#testsWith.get(word) ?? 0) + 1)
    }
  }

  of(source: string, test: string): number {
    const words = this.#words(test)
    let sum = 0
    for (const word of this.#words(source)) if (words.has(word)) sum += this.#weightOf(word)
    return words.size === 0 ? 0 : sum / Math.sqrt(words.size)
  }

  #weightOf(word: string): number {
    return Math.log(this.#tests / (this.#testsWith.get(word) ?? this.#tests)) ** 2
  }

  #words(file: string): Words {
    const known = this.#wordsOf.get(file)
    if (known !== undefined) return known
    const text = `${file} ${this.#read(file)}`
    const words = new Set(
      [...text.matchAll(/[A-Z]?[a-z]{3,}/g)].map(([word]) => word.toLowerCase()),
    )
    this.#wordsOf.set(file, words)
    return words
  }
}
