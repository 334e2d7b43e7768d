import type { SedWork } from './sed-work.ts'

/** Text that is made in pieces, up to a limit. */
export class SedOutput {
  readonly #work: SedWork
  readonly #delimiter: string
  readonly #pieces: string[] = []
  #length = 0
  #lacksEnd = false

  constructor(work: SedWork, delimiter: string) {
    this.#work = work
    this.#delimiter = delimiter
  }

  add(text: string): void {
    if (text === '') return
    this.#length += text.length + 1
    this.#work.grow(this.#length, 'an output')
    if (this.#lacksEnd) this.#pieces.push(this.#delimiter)
    this.#lacksEnd = false
    this.#pieces.push(text)
  }

  line(text: string, isEnded = true): void {
    if (isEnded) return this.add(`${text}${this.#delimiter}`)
    this.add(text)
    this.#lacksEnd = true
  }

  text(): string {
    return this.#pieces.join('')
  }
}
