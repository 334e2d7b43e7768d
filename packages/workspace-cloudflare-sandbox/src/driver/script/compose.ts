import { quoteWord } from '@helix-agents/core/provider'
import { type ScriptName, SCRIPTS } from './scripts.generated.ts'

/** Paths of one call: together they are far shorter than a word of a command line may be. */
const PATHS_BYTES = 60_000

/** What a variable of a script can hold: `true` is 1, `undefined` and `false` are empty. */
export type ScriptValue = string | number | boolean | readonly string[] | undefined

/** Bash that assigns variables, each quoted as one word, or as an array of words. */
export function assign(values: Readonly<Record<string, ScriptValue>>): string {
  return Object.entries(values)
    .map(([name, value]) => `${name}=${wordOf(value)}`)
    .join(' ')
}

/** The source of scripts, one after the other. */
export function sources(...names: readonly ScriptName[]): string {
  return names.map((name) => SCRIPTS[name]).join('')
}

/** Variables, then the scripts that use them. */
export function compose(
  values: Readonly<Record<string, ScriptValue>>,
  ...names: readonly ScriptName[]
): string {
  return `${assign(values)}\n${sources(...names)}`
}

/** A limit of bytes or entries; without limit it is empty. */
export function limit(value: number | undefined): number | undefined {
  return Number.isFinite(value) ? value : undefined
}

/** What one call after the other is about, at least one path each. */
export function inCalls<Item>(
  items: readonly Item[],
  pathOf: (item: Item) => string,
): readonly (readonly Item[])[] {
  const calls: Item[][] = []
  let bytes = Number.POSITIVE_INFINITY
  for (const item of items) {
    const added = pathOf(item).length * 4 + 3
    bytes += added
    if (bytes <= PATHS_BYTES) {
      calls.at(-1)?.push(item)
      continue
    }
    calls.push([item])
    bytes = added
  }
  return calls
}

function wordOf(value: ScriptValue): string {
  if (value === undefined || value === false) return ''
  if (value === true) return '1'
  if (typeof value === 'number') return String(value)
  if (typeof value === 'string') return quoteWord(value)
  return `(${value.map(quoteWord).join(' ')})`
}
