/** What is wanted of a text. */
export interface PageRequest {
  /** First line, from 1. */
  readonly offset: number
  /** First character of that line, from 1. */
  readonly column: number
  readonly limit: number
  readonly maxCharacters: number
}

/** Where the next page starts. */
export interface PagePosition {
  readonly offset: number
  readonly column?: number
}

/** Part of a text: pages that follow each other are the text, without gap or overlap. */
export interface Page {
  readonly content: string
  /** 0 when the page is empty. */
  readonly firstLine: number
  /** From 1; more than 1 when the page starts within a long line. */
  readonly firstColumn: number
  readonly lastLine: number
  /** Lines of the whole text; with `isPartial` there are at least so many. */
  readonly totalLines: number
  /** The text was not read to its end. */
  readonly isPartial?: true
  /** Absent at the end of the text. */
  readonly next?: PagePosition
}

/** What a line costs besides its characters: its number. */
const LINE_COST = 8

/**
 * Cuts one page out of a text that arrives whole or in pieces, and counts all its lines. Finds
 * line feeds with `indexOf`; keeps nothing but the page. A line that alone is over the budget is
 * cut, and the next page starts within it.
 */
export class LinePager {
  readonly #request: PageRequest
  #content = ''
  #line = 1
  #firstLine = 0
  #lastLine = 0
  #room: number
  #isFull = false
  /** The piece of the current line that arrived without its end. */
  #pending = ''
  #next: PagePosition | undefined
  #endsWithFeed = true
  /** Characters of the first line that an earlier page has shown, and that have not come by yet. */
  #skipLeft: number

  constructor(request: PageRequest) {
    this.#request = request
    this.#room = request.maxCharacters
    this.#skipLeft = request.column - 1
  }

  /** The page is complete: what comes after it is only counted. */
  get isFull(): boolean {
    return this.#isFull
  }

  push(chunk: string): void {
    if (chunk === '') return
    let position = 0
    while (position < chunk.length && !this.#isFull) {
      const start = position
      position = this.#takeWholeLines(chunk, start)
      if (position > start) continue
      const feed = chunk.indexOf('\n', position)
      const end = feed < 0 ? chunk.length : feed + 1
      if (this.#line >= this.#request.offset) {
        this.#take(this.#unseen(chunk.slice(position, end)), feed >= 0)
      }
      if (feed >= 0) this.#line += 1
      position = end
    }
    this.#countRest(chunk, position)
    this.#endsWithFeed = chunk.endsWith('\n')
  }

  /** @param isPartial There is more text, which was not pushed. */
  end(isPartial = false): Page {
    if (this.#pending !== '') this.#take('', true)
    const next = this.#next
    const totalLines = isPartial ? this.#linesSoFar() : this.#linesAtEnd()
    return {
      content: this.#content,
      firstLine: this.#firstLine,
      firstColumn: this.#firstLine === 0 ? 1 : this.#request.column,
      lastLine: this.#lastLine,
      totalLines,
      ...(isPartial && { isPartial }),
      ...(next !== undefined && next.offset <= totalLines && { next }),
    }
  }

  #linesAtEnd(): number {
    return this.#endsWithFeed ? this.#line - 1 : this.#line
  }

  #linesSoFar(): number {
    return Math.max(this.#line, this.#next?.offset ?? 1)
  }

  /** The usual case: lines that are wanted, whole and fit. Returns the index behind them. */
  #takeWholeLines(chunk: string, start: number): number {
    if (!this.#isAtLineStart()) return start
    const limit = this.#request.limit - (this.#firstLine === 0 ? 0 : this.#line - this.#firstLine)
    let end = start
    let count = 0
    for (let feed = chunk.indexOf('\n', start); feed >= 0; feed = chunk.indexOf('\n', end)) {
      const cost = feed + 1 - end + LINE_COST
      if (cost > this.#room || count === limit) break
      this.#room -= cost
      count += 1
      end = feed + 1
    }
    if (count === 0) return start
    this.#firstLine ||= this.#line
    this.#content += chunk.slice(start, end)
    this.#line += count
    this.#lastLine = this.#line - 1
    if (count === limit) this.#stop({ offset: this.#line })
    return end
  }

  /** In a line that is wanted from its first character on, of which nothing was taken yet. */
  #isAtLineStart(): boolean {
    if (this.#line < this.#request.offset || this.#pending !== '') return false
    return this.#line !== this.#request.offset || this.#request.column === 1
  }

  #countRest(chunk: string, position: number): void {
    let feed = chunk.indexOf('\n', position)
    while (feed >= 0) {
      this.#line += 1
      feed = chunk.indexOf('\n', feed + 1)
    }
  }

  /** Takes a piece of the current line; a piece without its end waits for the rest. */
  #take(piece: string, isEnd: boolean): void {
    this.#pending += piece
    if (!isEnd && this.#pending.length <= this.#room) return
    const line = this.#pending
    this.#pending = ''
    if (line.length + LINE_COST > this.#room) return this.#takePart(line)
    this.#add(line)
    if (this.#lastLine - this.#firstLine + 1 < this.#request.limit) return
    this.#stop({ offset: this.#line + 1 })
  }

  /** Without the characters of the first line that an earlier page has shown: none of them is kept. */
  #unseen(piece: string): string {
    if (this.#line !== this.#request.offset || this.#skipLeft === 0) return piece
    const skipped = Math.min(this.#skipLeft, piece.length)
    this.#skipLeft -= skipped
    return piece.slice(skipped)
  }

  /** No room for the line: it starts the next page, or is cut when it is the first. */
  #takePart(line: string): void {
    if (this.#firstLine !== 0) return this.#stop({ offset: this.#line })
    const cut = isHighSurrogate(line, this.#room - 1) ? this.#room - 1 : this.#room
    const part = line.slice(0, cut)
    this.#add(part)
    const column = this.#request.column + part.length
    const isWhole = part.length === line.length
    this.#stop(isWhole ? { offset: this.#line + 1 } : { offset: this.#line, column })
  }

  #add(line: string): void {
    this.#firstLine ||= this.#line
    this.#lastLine = this.#line
    this.#content += line
    this.#room -= line.length + LINE_COST
  }

  #stop(next: PagePosition): void {
    this.#isFull = true
    this.#next = next
  }
}

function isHighSurrogate(text: string, index: number): boolean {
  const unit = text.charCodeAt(index)
  return unit >= 0xd800 && unit <= 0xdbff
}
