/** Words joined by signs, or a short number: no key looks like that, and no sentence. */
const PLAIN = /^(?:[A-Za-z]{1,30}(?:[_.-][A-Za-z]{1,30}){0,6}|\d{1,6})$/

/** Whether a code of a provider may be shown: anything could stand in its place. */
export function isPlainWord(text: string): boolean {
  return text.length <= 60 && PLAIN.test(text)
}
