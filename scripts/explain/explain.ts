import { type ErrorCode, errorCodes } from '../docs/tables/error-tables.ts'

const PAGE = 'docs/guide/errors.md'

/** What the command prints, and whether it found the code. */
export interface Explanation {
  readonly isKnown: boolean
  readonly text: string
}

/** Explains an error code in the words of the docs; for an unknown code, names those like it. */
export function explain(code: string, known: readonly ErrorCode[] = errorCodes()): Explanation {
  const found = known.filter((one) => one.code === code)
  if (found.length > 0) {
    return { isKnown: true, text: [...found.map(describeCode), `More: ${PAGE}`].join('\n\n') }
  }
  const all = [...new Set(known.map((one) => one.code))]
  const similar = all.filter((one) => isSimilar(one, code))
  const title = similar.length > 0 ? 'Similar codes:' : 'Codes:'
  const names = (similar.length > 0 ? similar : all).map((one) => `  ${one}`)
  return { isKnown: false, text: [`There is no error code "${code}".`, title, ...names].join('\n') }
}

function describeCode({ code, className, meaning, classMeaning }: ErrorCode): string {
  const lines = [`${code} (${className})`, `  ${meaning}`]
  return (meaning === classMeaning ? lines : [...lines, `  ${className}: ${classMeaning}`]).join(
    '\n',
  )
}

/** Codes are words with dashes: one word in common is enough. */
function isSimilar(known: string, asked: string): boolean {
  const words = asked.toLowerCase().split(/[^a-z]+/)
  return known.split('-').some((word) => word.length > 2 && words.includes(word))
}
