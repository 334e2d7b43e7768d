import { styleText } from 'node:util'
import type { CliHost, TextStream } from '../cli-host.ts'
import { type Cell, textOf, type Tone, toneOf } from './cell.ts'
import { toIndentedLines, toPlainJson, toPlainText } from './plain-text.ts'
import { type Column, renderFields, renderTable, type TableStyle } from './table.ts'

const COLOURS = {
  good: 'green',
  warning: 'yellow',
  bad: 'red',
  faint: 'dim',
  strong: 'bold',
} as const satisfies Record<Tone, string>

const MIN_WIDTH = 20

/**
 * The one way to the terminal: data to stdout, diagnostics to stderr. Whatever text it is given,
 * no character that a terminal acts upon gets through, so that commands need not think of it.
 */
export class Output {
  readonly #host: CliHost

  constructor(host: CliHost) {
    this.#host = host
  }

  /** Whether the output has been closed by its reader. */
  get isClosed(): boolean {
    return this.#host.isOutputClosed()
  }

  heading(text: string): void {
    this.#write('', this.#style.paint(toPlainText(text), 'strong'))
  }

  line(cell: Cell): void {
    this.#write(this.#style.paint(toPlainText(textOf(cell)), toneOf(cell)))
  }

  table(columns: readonly Column[], rows: readonly (readonly Cell[])[]): void {
    this.#write(...renderTable(columns, rows, this.#style))
  }

  fields(fields: readonly (readonly [title: string, value: Cell])[]): void {
    this.#write(...renderFields(fields, this.#style))
  }

  /** One JSON document. Compact: on a line of its own, one of many. */
  json(value: unknown, { isCompact = false }: { readonly isCompact?: boolean } = {}): void {
    this.#write(toPlainJson(value, isCompact ? 0 : 2))
  }

  /** A remark that is no data. */
  note(text: string): void {
    this.#host.stderr.write(`${toIndentedLines(text)}\n`)
  }

  problem(text: string): void {
    const paint = painterFor(this.#host.stderr, this.#host.env)
    this.#host.stderr.write(`${paint('helix:', 'bad')} ${toIndentedLines(text)}\n`)
  }

  get #style(): TableStyle {
    const { stdout, env } = this.#host
    const width = stdout.isTTY === true ? Math.max(MIN_WIDTH, stdout.columns ?? 80) : Infinity
    return { width, paint: painterFor(stdout, env) }
  }

  #write(...lines: readonly string[]): void {
    if (lines.length === 0 || this.isClosed) return
    this.#host.stdout.write(`${lines.join('\n')}\n`)
  }
}

/** Colour only for a terminal that has any without `NO_COLOR`. */
function painterFor(stream: TextStream, env: CliHost['env']): TableStyle['paint'] {
  const isDisabled = (env.NO_COLOR ?? '') !== '' || env.TERM === 'dumb'
  if (stream.isTTY !== true || isDisabled) return (text) => text
  return (text, tone) =>
    tone === undefined ? text : styleText(COLOURS[tone], text, { validateStream: false })
}
