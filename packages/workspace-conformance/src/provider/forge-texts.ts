import { unguessable } from '../unguessable.ts'

type Change = (text: string, index: number) => string

/** A payload with every text replaced. */
export function forgeTexts(payload: unknown, value: string): unknown {
  return changeTexts(payload, () => value)
}

/** Payloads with one text replaced; none where there is only one. */
export function forgeEachText(payload: unknown, value: string): unknown[] {
  const count = countTexts(payload)
  if (count < 2) return []
  return Array.from({ length: count }, (_, wanted) =>
    changeTexts(payload, (text, index) => (index === wanted ? value : text)),
  )
}

/** Payloads whose texts mean the same to a path and to nothing else. */
export function respellTexts(payload: unknown): unknown[] {
  const spellings: readonly Change[] = [
    (text) => `./${text}`,
    (text) => `${text}/.`,
    (text) => `${unguessable()}/../${text}`,
  ]
  return spellings.map((spell) => changeTexts(payload, spell))
}

/** How many texts there are, at any depth. */
export function countTexts(payload: unknown): number {
  let count = 0
  changeTexts(payload, (text) => {
    count += 1
    return text
  })
  return count
}

function changeTexts(payload: unknown, change: Change): unknown {
  let index = 0
  const walk = (part: unknown): unknown => {
    if (typeof part === 'string') return change(part, index++)
    if (Array.isArray(part)) return part.map(walk)
    if (typeof part !== 'object' || part === null) return part
    return Object.fromEntries(Object.entries(part).map(([key, inner]) => [key, walk(inner)]))
  }
  return walk(payload)
}
