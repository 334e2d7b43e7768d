/** Whether the first line of a text ends with CRLF. */
export function hasWindowsLineEnds(text: string): boolean {
  const end = text.indexOf('\n')
  return end > 0 && text[end - 1] === '\r'
}

/** Turns bare line feeds into CRLF and leaves CRLF as it is. */
export function toWindowsLineEnds(text: string): string {
  return text.replace(/\r?\n/g, () => '\r\n')
}

/** Number of line feeds in a part of a text. */
export function countLineFeeds(text: string, from: number, to: number): number {
  let count = 0
  for (let i = text.indexOf('\n', from); i >= 0 && i < to; i = text.indexOf('\n', i + 1)) count += 1
  return count
}

/** Number of lines; what follows the last line feed counts when it is not empty. */
export function countLines(text: string): number {
  const feeds = countLineFeeds(text, 0, text.length)
  return text === '' || text.endsWith('\n') ? feeds : feeds + 1
}

/** The lines of a text without their ends. */
export function splitLines(text: string): string[] {
  const lines = text.split('\n').map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line))
  if (lines.at(-1) === '') lines.pop()
  return lines
}
