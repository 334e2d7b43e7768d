import { type Cell, textOf, type Tone, toneOf } from './cell.ts'
import { fitText, padText, widthOf } from './fit-text.ts'
import { toPlainText } from './plain-text.ts'

/** A column of a table. */
export interface Column {
  readonly title: string
  readonly align?: 'left' | 'right'
  /** May be cut to so many columns of the terminal when the table is too wide. */
  readonly minWidth?: number
  /** Is left out, the last one first, of a table that is too wide even when it is cut. */
  readonly isOptional?: boolean
}

/** How a table is drawn. */
export interface TableStyle {
  /** Columns of the terminal; infinite when the output is no terminal. */
  readonly width: number
  readonly paint: (text: string, tone: Tone | undefined) => string
}

const GAP = '  '

/**
 * A table as lines. One that stays too wide when its columns are cut as far as they may be, and
 * its optional ones left out, is drawn as a block of lines for each row instead.
 */
export function renderTable(
  columns: readonly Column[],
  rows: readonly (readonly Cell[])[],
  style: TableStyle,
): string[] {
  const fitting = fitColumns(columns, rows, style.width)
  if (fitting === undefined) return renderBlocks(columns, rows, style)
  const last = fitting.at(-1)
  const draw = (cellOf: (index: number, column: Column) => Cell): string =>
    fitting
      .map((fitted) => {
        const { column, index, width } = fitted
        const cell = cellOf(index, column)
        const { align = 'left' } = column
        const text = fitText(toPlainText(textOf(cell)), width)
        const isPadded = fitted !== last || align === 'right'
        return style.paint(isPadded ? padText(text, width, align) : text, toneOf(cell))
      })
      .join(GAP)
      .trimEnd()
  const titles = draw((_, { title }) => ({ text: title.toUpperCase(), tone: 'faint' }))
  return [titles, ...rows.map((row) => draw((index) => row[index] ?? ''))]
}

interface FittedColumn {
  readonly column: Column
  /** Its position in the rows. */
  readonly index: number
  readonly width: number
}

/** The columns that are drawn; `undefined` when not even the needed ones fit. */
function fitColumns(
  columns: readonly Column[],
  rows: readonly (readonly Cell[])[],
  width: number,
): readonly FittedColumn[] | undefined {
  const natural = naturalWidths(columns, rows)
  let rest = columns.map((column, index) => ({ column, index, width: natural[index] ?? 0 }))
  for (;;) {
    const widths = fitWidths(
      rest.map(({ column }) => column),
      rest.map((one) => one.width),
      width,
    )
    if (widths !== undefined) {
      return rest.map((one, position) => ({ ...one, width: widths[position] ?? 0 }))
    }
    const optional = rest.findLast(({ column }) => column.isOptional === true)
    if (optional === undefined) return undefined
    rest = rest.filter((one) => one !== optional)
  }
}

function naturalWidths(
  columns: readonly Column[],
  rows: readonly (readonly Cell[])[],
): readonly number[] {
  return columns.map(({ title }, index) =>
    rows.reduce(
      (most, row) => Math.max(most, widthOf(toPlainText(textOf(row[index] ?? '')))),
      widthOf(title),
    ),
  )
}

/** Takes what is missing from the widest columns first; `undefined` when it cannot be found. */
function fitWidths(
  columns: readonly Column[],
  natural: readonly number[],
  width: number,
): readonly number[] | undefined {
  const widths = [...natural]
  let missing = widths.reduce((sum, one) => sum + one, GAP.length * (widths.length - 1)) - width
  while (missing > 0) {
    const index = widestToCut(columns, widths)
    if (index === undefined) return undefined
    widths[index] = (widths[index] ?? 0) - 1
    missing -= 1
  }
  return widths
}

function widestToCut(columns: readonly Column[], widths: readonly number[]): number | undefined {
  let widest: number | undefined
  for (const [index, { minWidth }] of columns.entries()) {
    const width = widths[index] ?? 0
    if (minWidth === undefined || width <= minWidth) continue
    if (widest === undefined || width > (widths[widest] ?? 0)) widest = index
  }
  return widest
}

function renderBlocks(
  columns: readonly Column[],
  rows: readonly (readonly Cell[])[],
  style: TableStyle,
): string[] {
  return rows.flatMap((row, position) => {
    const fields = columns.map(({ title }, index) => [title, row[index] ?? ''] as const)
    const lines = renderFields(fields, style)
    return position === 0 ? lines : ['', ...lines]
  })
}

/** Titles with their values, one a line; values are cut at the edge of the terminal. */
export function renderFields(
  fields: readonly (readonly [title: string, value: Cell])[],
  style: TableStyle,
): string[] {
  const titleWidth = Math.max(0, ...fields.map(([title]) => widthOf(title)))
  return fields.map(([title, value]) => {
    const room = Math.max(1, style.width - titleWidth - GAP.length)
    const text = fitText(toPlainText(textOf(value)), room)
    const label = style.paint(padText(title, titleWidth, 'left'), 'faint')
    return `${label}${GAP}${style.paint(text, toneOf(value))}`.trimEnd()
  })
}
