// Facts that only the source text holds: comments, unions, interfaces.
import { read } from '../repository.ts'

export interface Field {
  readonly name: string
  readonly type: string
  /** The comment above it, in one line, without tags. */
  readonly says: string
}

const fieldPattern =
  /(?:\/\*\*(?<comment>(?:(?!\*\/)[\s\S])*)\*\/\s*)?^ {2}(?:readonly )?(?<name>\w+)\??(?:: (?<type>.+)|\((?<rest>.+))$/gm

/** The members of an interface that stands in a file, in their order. */
export function interfaceFields(file: string, name: string): Field[] {
  const source = read(file)
  const start = source.search(new RegExp(`^(?:export )?interface ${name}\\b`, 'm'))
  if (start === -1) throw new Error(`${file} has no interface ${name}`)
  const body = source.slice(start, source.indexOf('\n}', start))
  return [...body.matchAll(fieldPattern)].map(({ groups = {} }) => ({
    name: groups.name ?? '',
    type: (groups.type ?? `(${groups.rest ?? ''}`).trim(),
    says: plainComment(groups.comment ?? ''),
  }))
}

/** Key → its comment, of an object that is given to a zod schema. */
export function keyComments(file: string): ReadonlyMap<string, string> {
  return keyCommentsOf(file, /(?<key>\w+): z/)
}

/** Key → its comment, of an object whose entries look like `entry`. */
export function keyCommentsOf(file: string, entry: RegExp): ReadonlyMap<string, string> {
  const comment = String.raw`/\*\*(?<comment>(?:(?!\*/)[\s\S])*)\*/\s*`
  const found = [...read(file).matchAll(new RegExp(comment + entry.source, 'g'))]
  return new Map(
    found.map(({ groups }) => [groups?.key ?? '', plainComment(groups?.comment ?? '')]),
  )
}

/** What the comment of a class says. */
export function classComment(file: string, name: string): string {
  const pattern = new RegExp(
    `/\\*\\*((?:(?!\\*/)[\\s\\S])*)\\*/\\s*export (?:abstract )?class ${name}\\b`,
  )
  return plainComment(pattern.exec(read(file))?.[1] ?? '')
}

/** The members of a union of string literals; also of a field that has one literal. */
export function literals(file: string, pattern: RegExp): string[] {
  const found = pattern.exec(read(file))?.[1] ?? ''
  return [...found.matchAll(/'([a-z-]+)'/g)].flatMap((match) => match[1] ?? [])
}

/** A comment as one line of prose; tags and what follows them are left out. */
export function plainComment(comment: string): string {
  return comment
    .replaceAll(/^\s*\* ?/gm, '')
    .replace(/^@[\s\S]*/m, '')
    .replaceAll(/\{@link (\w+)\}/g, '`$1`')
    .replaceAll(/\s+/g, ' ')
    .trim()
}

/** The same, and what its tags `@throws` say. */
export function wholeComment(comment: string): string {
  const throws = [...comment.matchAll(/@throws \{(\w+)\}((?:(?!@throws)[^@])*)/g)].map(
    ([, name = '', codes = '']) => {
      const when = codes
        .replaceAll(/^\s*\* ?/gm, '')
        .replaceAll(/\s+/g, ' ')
        .trim()
      return `Throws ${[`\`${name}\``, when].join(' ').trim().replace(/\.$/, '')}.`
    },
  )
  return [plainComment(comment.replace(/@throws[\s\S]*/, '')), ...throws].join(' ').trim()
}
