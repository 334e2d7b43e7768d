import { REDACTED } from './secret-shapes.ts'

/** A scheme's end, a user and a colon. A port is no password. */
const HEAD = /:\/\/[^\s/:@"]{0,256}:(?!\d{1,5}[/?#])/g
const END_OF_URL = /[\s"]/g
const MAX_PASSWORD = 512

/**
 * Hides the password of `scheme://user:password@host`. It may hold `/` and `@`, and ends at the last
 * `@`. The cost is linear in the text, also where there are many heads and no end.
 */
export function hideUrlPasswords(text: string): string {
  const pieces: string[] = []
  let [end, urlEnd, nextAt] = [0, 0, -1]
  HEAD.lastIndex = 0
  for (let head = HEAD.exec(text); head !== null; head = HEAD.exec(text)) {
    const from = HEAD.lastIndex
    if (nextAt <= from) nextAt = text.indexOf('@', from + 1)
    if (nextAt === -1) break
    if (urlEnd <= from) urlEnd = endOfUrl(text, from)
    const to = Math.min(from + MAX_PASSWORD + 1, urlEnd)
    if (nextAt >= to) continue
    const last = from + text.slice(from, to).lastIndexOf('@')
    pieces.push(text.slice(end, from), REDACTED)
    end = last
    HEAD.lastIndex = last
  }
  return pieces.length === 0 ? text : pieces.join('') + text.slice(end)
}

function endOfUrl(text: string, from: number): number {
  END_OF_URL.lastIndex = from
  return END_OF_URL.exec(text)?.index ?? text.length
}
