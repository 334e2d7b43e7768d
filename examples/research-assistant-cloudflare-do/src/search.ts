/** A document that can be searched and read. */
export interface LibraryDocument {
  readonly id: string
  readonly title: string
  /** Markdown. */
  readonly text: string
}

export interface Hit {
  readonly id: string
  readonly title: string
  /** The sentence that fits best. */
  readonly sentence: string
}

/** A word in the title says more about a document than one in its text. */
const TITLE_WEIGHT = 3

/** The documents that fit the words of a query, best first. Rare words count for more. */
export function search(
  documents: readonly LibraryDocument[],
  query: string,
  limit: number,
): readonly Hit[] {
  const indexed = documents.map((document) => ({ document, words: wordsOf(document.text) }))
  const weights = new Map(
    wordsOf(query).map((word) => {
      const holders = indexed.filter(({ words }) => words.includes(word)).length
      return [word, holders === 0 ? 0 : Math.log(1 + documents.length / holders)] as const
    }),
  )
  const score = (words: readonly string[]): number =>
    words.reduce((sum, word) => sum + (weights.get(word) ?? 0), 0)
  return indexed
    .map(({ document, words }) => ({
      document,
      score:
        (score(words) + TITLE_WEIGHT * score(wordsOf(document.title))) / Math.sqrt(words.length),
    }))
    .filter((ranked) => ranked.score > 0)
    .toSorted((a, b) => b.score - a.score || (a.document.id < b.document.id ? -1 : 1))
    .slice(0, limit)
    .map(({ document: { id, title, text } }) => ({
      id,
      title,
      sentence: best(sentencesOf(text), (sentence) => score(wordsOf(sentence))),
    }))
}

/** Lower case, at least three characters, without the `s` of a plural. */
function wordsOf(text: string): string[] {
  return (text.toLowerCase().match(/[a-z0-9]{3,}/g) ?? []).map((word) => word.replace(/s$/, ''))
}

/** A full stop within a number ends no sentence. */
function sentencesOf(text: string): string[] {
  const prose = text.replace(/^# .*/, '').replaceAll(/\s+/g, ' ').trim()
  return prose.split(/(?<=[.!?]) /)
}

function best(sentences: readonly string[], score: (sentence: string) => number): string {
  return sentences.toSorted((a, b) => score(b) - score(a))[0] ?? ''
}
