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
  #window = ''
  #windowStart = 0
  #windowEnd = 0

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
    if (this.#at >= this.#windowEnd) this.#moveWindow()
    const index = this.#window.indexOf(wanted, this.#at - this.#windowStart)
    const place = this.#windowStart + index
    this.#at = index < 0 ? this.#windowEnd : place + wanted.length
    return index < 0 ? undefined : place
  }

  /** The part of the text that is searched next; a place that begins in it ends in it. */
  #moveWindow(): void {
    this.#windowStart = this.#at
    this.#windowEnd = this.#at + WINDOW
    this.#window = this.#text.slice(this.#at, this.#windowEnd + this.#wanted.length - 1)
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

/** Calls back for every place of a literal text, and yields to other work. */
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

/**
 * The text with something else at every place of a literal text, from left to right and without
 * overlap. Yields to other work.
 */
export async function replaceEachPlace(
  text: string,
  { oldText, newText }: { readonly oldText: string; readonly newText: string },
  turn: WorkTurn,
): Promise<string> {
  const chunks: string[] = []
  if (oldText.length > MAX_NATIVE) {
    let end = 0
    await eachPlace(text, oldText, turn, (place) => {
      chunks.push(text.slice(end, place), newText)
      end = place + oldText.length
    })
    chunks.push(text.slice(end))
  }
  for (let at = 0; at < text.length && oldText.length <= MAX_NATIVE;) {
    const part = replaceInWindow(text, at, { oldText, newText })
    chunks.push(part.text)
    at = part.end
    if (turn.dueAfter(CHECKS_A_WINDOW)) await turn.pause()
  }
  return chunks.join('')
}

/** @returns the new text of one window, and the place in the old text where the next one begins. */
function replaceInWindow(
  text: string,
  start: number,
  { oldText, newText }: { readonly oldText: string; readonly newText: string },
): { readonly text: string; readonly end: number } {
  // A place that begins in the window ends in this part.
  const part = text.slice(start, start + WINDOW + oldText.length - 1)
  const between = part.split(oldText)
  const tail = between.pop() ?? ''
  const lastEnd = start + part.length - tail.length
  const isLast = start + part.length === text.length
  const end = isLast ? text.length : Math.max(lastEnd, start + WINDOW)
  return { text: [...between, tail.slice(0, end - lastEnd)].join(newText), end }
}
