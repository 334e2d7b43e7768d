/** Number of lines that fit into a budget of characters; at least one. */
export function fitLines(lines: readonly string[], maxCharacters: number): number {
  let room = maxCharacters
  for (const [index, line] of lines.entries()) {
    room -= line.length + 1
    if (room < 0 && index > 0) return index
  }
  return lines.length
}
