import { FileSystemError } from '../../../errors/file-system-error.ts'

const MAX_ALTERNATIVES = 128
/** Characters of all alternatives together: each may be compared with every name of a path. */
const MAX_CHARACTERS = 4096

/**
 * The patterns that `{a,b}` stands for, nested ones included. Braces without a comma, or without
 * their other half, are ordinary characters, as in a shell.
 *
 * @throws {FileSystemError} `invalid-pattern` for more than 128 alternatives, or 4,096 characters of
 * them together.
 */
export function expandBraces(pattern: string): string[] {
  const done: string[] = []
  const open = [pattern]
  for (let text = open.pop(); text !== undefined; text = open.pop()) {
    const brace = findBrace(text)
    if (brace === undefined) done.push(text)
    else {
      const before = text.slice(0, brace.start)
      const after = text.slice(brace.end + 1)
      open.push(...brace.choices.map((choice) => before + choice + after).toReversed())
    }
    if (done.length + open.length > MAX_ALTERNATIVES) {
      throw new FileSystemError('invalid-pattern', pattern, {
        detail: `braces stand for more than ${MAX_ALTERNATIVES} patterns`,
      })
    }
  }
  const characters = done.reduce((sum, one) => sum + one.length, 0)
  if (characters <= MAX_CHARACTERS) return done
  throw new FileSystemError('invalid-pattern', pattern, {
    detail: `braces stand for patterns of ${characters} characters, at most ${MAX_CHARACTERS} are allowed`,
    hint: 'Ask for fewer alternatives in one call.',
  })
}

interface Brace {
  readonly start: number
  readonly end: number
  readonly choices: readonly string[]
}

/** The first pair of braces that holds a comma of its own. */
function findBrace(text: string): Brace | undefined {
  for (let i = text.indexOf('{'); i >= 0; i = text.indexOf('{', i + 1)) {
    const brace = isEscaped(text, i) ? undefined : readBrace(text, i)
    if (brace !== undefined) return brace
  }
  return undefined
}

function readBrace(text: string, start: number): Brace | undefined {
  const choices: string[] = []
  let depth = 0
  let from = start + 1
  for (let i = start; i < text.length; i += 1) {
    const character = text[i]
    if (character === '\\') i += 1
    else if (character === '{') depth += 1
    else if (character === ',' && depth === 1) {
      choices.push(text.slice(from, i))
      from = i + 1
    } else if (character === '}' && (depth -= 1) === 0) {
      choices.push(text.slice(from, i))
      return choices.length > 1 ? { start, end: i, choices } : undefined
    }
  }
  return undefined
}

function isEscaped(text: string, index: number): boolean {
  let slashes = 0
  while (text[index - 1 - slashes] === '\\') slashes += 1
  return slashes % 2 === 1
}
