import { InvalidArgumentError } from 'commander'

const UNIT_MS: ReadonlyMap<string, number> = new Map(
  Object.entries<number>({
    ms: 1,
    s: 1000,
    m: 60_000,
    h: 3_600_000,
    d: 86_400_000,
    w: 604_800_000,
  }),
)

/** `90s`, `30m`, `2h`, `7d`, in milliseconds. The unit is needed: a bare number could mean any. */
export function parseDuration(text: string): number {
  const [, count, unit] = /^(\d{1,9})(ms|s|m|h|d|w)$/.exec(text) ?? []
  const unitMs = UNIT_MS.get(unit ?? '')
  if (count === undefined || unitMs === undefined) {
    throw new InvalidArgumentError('Give a number with its unit, such as 90s, 30m, 2h or 7d.')
  }
  return Number(count) * unitMs
}

/** A directory. An empty one is a variable that is not set, and would mean the current directory. */
export function parseDirectory(text: string): string {
  if (text.trim() !== '') return text
  throw new InvalidArgumentError('Give a directory.')
}

/** A whole number in a range. */
export function parseCount(least: number, most: number): (text: string) => number {
  return (text) => {
    const count = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN
    if (count >= least && count <= most) return count
    throw new InvalidArgumentError(`Give a whole number from ${least} to ${most}.`)
  }
}

/** One of a closed set of words. */
export function parseChoice<T extends string>(choices: readonly T[]): (text: string) => T {
  return (text) => {
    const choice = choices.find((one) => one === text)
    if (choice !== undefined) return choice
    throw new InvalidArgumentError(`Choose one of ${choices.join(', ')}.`)
  }
}
