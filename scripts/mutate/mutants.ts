import { type Edit, OPERATORS } from './operators.ts'
import { type Place, placeOf } from './places.ts'
import { parse, type SyntaxNode, walk } from './syntax.ts'

/** A program with one change. */
export interface Mutant {
  readonly file: string
  readonly operator: string
  /** The line of the change, counted from 1. */
  readonly line: number
  /** The whole changed text. */
  readonly text: string
  readonly edit: Edit
  /** What is switched to change the program while it runs. */
  readonly place: Place
}

/** The mutants of a file that can be switched, in the order of its text. */
export function mutantsOf(file: string, text: string): readonly Mutant[] {
  const textOf = ({ start, end }: SyntaxNode): string => text.slice(start, end)
  const mutants: Mutant[] = []
  for (const visit of walk(parse(file, text))) {
    const place = placeOf(visit)
    if (place === undefined) continue
    for (const [operator, offer] of Object.entries(OPERATORS)) {
      for (const edit of offer(visit, textOf)) {
        const line = text.slice(0, edit.start).split('\n').length
        mutants.push({ file, operator, line, text: applyEdit(text, edit), edit, place })
      }
    }
  }
  return mutants
}

/** Whether the changed text is a program. */
export function isProgram({ file, text }: Pick<Mutant, 'file' | 'text'>): boolean {
  try {
    parse(file, text)
    return true
  } catch (error) {
    if (error instanceof SyntaxError) return false
    throw error
  }
}

/** A text with a piece of it replaced. */
export function applyEdit(text: string, { start, end, text: inserted }: Edit): string {
  return text.slice(0, start) + inserted + text.slice(end)
}

/**
 * Chooses mutants by seed: first an operator, then one of its mutants, so that the common ones do
 * not drown the others. The first n of a seed are the same for every larger count.
 */
export function chooseMutants(
  mutants: readonly Mutant[],
  count: number,
  seed: number,
): readonly Mutant[] {
  const next = randomOf(seed)
  const left = Object.values(Object.groupBy(mutants, ({ operator }) => operator)).map(
    (group = []) => [...group],
  )
  const chosen: Mutant[] = []
  while (chosen.length < count && left.some((group) => group.length > 0)) {
    const groups = left.filter((group) => group.length > 0)
    const group = groups[Math.floor(next() * groups.length)] ?? []
    const [mutant] = group.splice(Math.floor(next() * group.length), 1)
    if (mutant !== undefined && isProgram(mutant)) chosen.push(mutant)
  }
  return chosen
}

/** Numbers from 0 to 1 that depend on the seed alone (mulberry32). */
function randomOf(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
