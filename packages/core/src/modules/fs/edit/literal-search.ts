import type { WorkTurn } from './work-turn.ts'

/** Characters that are searched in one synchronous stretch. */
const WINDOW = 65_536
/** `indexOf` is linear only for texts up to this length: V8 compares longer ones again and again. */
const MAX_NATIVE = 200
/** Places after which the time is asked for. */
const PLACES_A_CHECK = 64
/** A window costs up to half a millisecond. */
const CHECKS_A_WINDOW = 64

/**
 * The places of a literal text, from left to right, without overlap. Time is linear in the length
 * of both texts, whatever they hold; one call of `next` costs at most a window.
 */
export class LiteralSearch {
  readonly #text: string
  readonly #wanted: string
  /** For each prefix the length of its longest proper prefix that is also its suffix. */
  #borders: Int32Array | undefined
  /** Prefixes whose border is known. */
  #bordered = 1
  #at = 0
  #matched = 0

  /** @param wanted Not empty. */
  constructor(text: string, wanted: string) {
    this.#text = text
    this.#wanted = wanted
  }

  /** Whether the text was searched to its end. */
  get isDone(): boolean {
    return this.#at - this.#matched + this.#wanted.length > this.#text.length
  }

  /** The next place; undefined when the next window holds none. */
  next(): number | undefined {
    if (this.#wanted.length <= MAX_NATIVE) return this.#nextShort()
    this.#borders ??= new Int32Array(this.#wanted.length)
    if (this.#bordered === this.#wanted.length) return this.#nextLong(this.#borders)
    this.#addBorders(this.#borders)
    return undefined
  }

  #nextShort(): number | undefined {
    const wanted = this.#wanted
    const end = this.#at + WINDOW + wanted.length - 1
    const index = this.#text.slice(this.#at, end).indexOf(wanted)
    const place = this.#at + index
    this.#at = index < 0 ? this.#at + WINDOW : place + wanted.length
    return index < 0 ? undefined : place
  }

  /** Knuth, Morris and Pratt: no character of the text is read twice. */
  #nextLong(borders: Int32Array): number | undefined {
    const text = this.#text
    const wanted = this.#wanted
    const end = Math.min(text.length, this.#at + WINDOW)
    let matched = this.#matched
    for (let at = this.#at; at < end; at += 1) {
      const unit = text.charCodeAt(at)
      while (matched > 0 && wanted.charCodeAt(matched) !== unit) matched = borders[matched - 1] ?? 0
      if (wanted.charCodeAt(matched) === unit) matched += 1
      if (matched < wanted.length) continue
      this.#at = at + 1
      this.#matched = 0
      return at + 1 - wanted.length
    }
    this.#at = end
    this.#matched = matched
    return undefined
  }

  /** One stretch of the borders, which take time that is linear in the wanted text. */
  #addBorders(borders: Int32Array): void {
    const wanted = this.#wanted
    const end = Math.min(wanted.length, this.#bordered + WINDOW)
    let border = borders[this.#bordered - 1] ?? 0
    for (let i = this.#bordered; i < end; i += 1) {
      const unit = wanted.charCodeAt(i)
      while (border > 0 && wanted.charCodeAt(border) !== unit) border = borders[border - 1] ?? 0
      if (wanted.charCodeAt(border) === unit) border += 1
      borders[i] = border
    }
    this.#bordered = end
  }
}

/** Calls back for every place of a literal text, and gives way to other work meanwhile. */
export async function eachPlace(
  text: string,
  wanted: string,
  turn: WorkTurn,
  visit: (place: number) => void,
): Promise<void> {
  const search = new LiteralSearch(text, wanted)
  for (let found = 0; !search.isDone;) {
    const place = search.next()
    if (place !== undefined) {
      visit(place)
      found += 1
    }
    // Asking for the time costs more than finding a place that is near.
    const isWorthIt = place === undefined || found % PLACES_A_CHECK === 0
    if (isWorthIt && turn.dueAfter(place === undefined ? CHECKS_A_WINDOW : 1)) await turn.pause()
  }
}
