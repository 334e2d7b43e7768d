// A TypeScript file as a syntax tree, with the comments above its declarations.
import { type Comment, type Program, parseSync, type Span } from 'oxc-parser'
import { read } from '../repository.ts'
import { wholeComment } from './source-text.ts'

const parsed = new Map<string, SourceFile>()

export class SourceFile {
  readonly text: string
  readonly program: Program
  readonly #comments: readonly Comment[]

  /** @throws {Error} for a text that is no TypeScript. */
  constructor(name: string, text: string) {
    const { program, comments, errors } = parseSync(name, text, { lang: 'ts' })
    if (errors[0] !== undefined) throw new Error(`${name}: ${errors[0].message}`)
    this.text = text
    this.program = program
    this.#comments = comments
  }

  /** A file of the repository. */
  static read(file: string): SourceFile {
    const known = parsed.get(file) ?? new SourceFile(file, read(file))
    parsed.set(file, known)
    return known
  }

  /** The text of a node in one line, without the comments inside it. */
  textOf({ start, end }: Span): string {
    const inside = this.#comments.filter((one) => one.start >= start && one.end <= end)
    const pieces = [start, ...inside.flatMap((one) => [one.start, one.end]), end]
    const code = pieces.flatMap((from, index) =>
      index % 2 === 0 ? this.text.slice(from, pieces[index + 1]) : [],
    )
    return inOneLine(code.join(''))
  }

  /** The comment that stands right above a node, in one line. */
  commentAbove(node: Span): string {
    return wholeComment(this.#above(node))
  }

  /** Whether the comment above a node says that it is for this repository only. */
  isInternal(node: Span): boolean {
    return this.#above(node).includes('@internal')
  }

  #above({ start }: Span): string {
    const comment = this.#comments.findLast((one) => one.end <= start)
    if (comment === undefined || this.text.slice(comment.end, start).trim() !== '') return ''
    if (comment.type === 'Line' || !comment.value.startsWith('*')) return ''
    return comment.value.slice(1).trim()
  }
}

function inOneLine(text: string): string {
  return text
    .replaceAll(/(?<=[\w'>)\]}])[ \t]*\n\s*(?=(?:readonly )?['\w]+\??[:(])/g, '; ')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/\( /g, '(')
    .replaceAll(/,? \)/g, ')')
    .trim()
}
