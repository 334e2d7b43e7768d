import { type SedAddress, type SedCommand, SedError } from './sed-program.ts'
import type { SedSearch } from './sed-search.ts'

/** Where a script is. */
export interface SedPlace {
  readonly text: string
  readonly number: number
  readonly isLast: boolean
}

interface Range {
  isActive: boolean
  endLine: number
}

/** Which commands the lines select, with the ranges that have begun. */
export class SedSelection {
  readonly #search: SedSearch
  readonly #ranges = new Map<SedCommand, Range>()

  constructor(search: SedSearch) {
    this.#search = search
  }

  has(command: SedCommand, place: SedPlace): boolean {
    const { from, to, isNegated } = command
    if (from === undefined) return !isNegated
    const isSelected =
      to === undefined ? this.#matches(from, place) : this.#inRange(command, place, { from, to })
    return isSelected !== isNegated
  }

  /** The range of the command goes on behind this line. */
  isInside(command: SedCommand): boolean {
    return this.#ranges.get(command)?.isActive === true
  }

  #inRange(
    command: SedCommand,
    place: SedPlace,
    { from, to }: { readonly from: SedAddress; readonly to: SedAddress },
  ): boolean {
    const { number } = place
    const isFromStart = from.type === 'line' && from.line === 0
    const range = this.#ranges.get(command) ?? { isActive: isFromStart, endLine: Infinity }
    this.#ranges.set(command, range)
    if (range.isActive) {
      range.isActive = !this.#isEnd(to, range, place)
      return to.type !== 'line' || number <= to.line
    }
    if (!this.#matches(from, place)) return false
    range.endLine = endLineOf(to, number)
    // A pattern is searched from the next line on.
    range.isActive = to.type === 'pattern' || !this.#isEnd(to, range, place)
    return true
  }

  #isEnd(to: SedAddress, { endLine }: Range, place: SedPlace): boolean {
    if (to.type === 'offset' || to.type === 'multiple') return place.number >= endLine
    return to.type === 'line' ? place.number >= to.line : this.#matches(to, place)
  }

  #matches(address: SedAddress, { text, number, isLast }: SedPlace): boolean {
    if (address.type === 'line') return number === address.line
    if (address.type === 'last') return isLast
    if (address.type === 'pattern') return this.#search.test(text, address.pattern)
    if (address.type !== 'step') throw new SedError("unexpected `,'")
    const { first, step } = address
    return step === 0 ? number === first : number >= first && (number - first) % step === 0
  }
}

function endLineOf(to: SedAddress, number: number): number {
  if (to.type === 'offset') return number + to.lines
  if (to.type !== 'multiple') return Infinity
  return to.of === 0 ? number : number + to.of - (number % to.of)
}
