/** What a text says about its subject, shown by a colour where the terminal has any. */
export type Tone = 'good' | 'warning' | 'bad' | 'faint' | 'strong'

/** A piece of text in a table; made harmless when it is printed, not before. */
export type Cell = string | { readonly text: string; readonly tone: Tone }

export function textOf(cell: Cell): string {
  return typeof cell === 'string' ? cell : cell.text
}

export function toneOf(cell: Cell): Tone | undefined {
  return typeof cell === 'string' ? undefined : cell.tone
}
