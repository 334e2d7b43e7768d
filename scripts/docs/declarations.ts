// What an entry point exports, and where each export is declared.
import { dirname, join } from 'node:path'
import { read } from '../repository.ts'
import { wholeComment } from './source-text.ts'

export type Kind = 'function' | 'class' | 'interface' | 'type' | 'const'

export interface Declaration {
  readonly name: string
  readonly kind: Kind
  /** From its keyword on, to the end of its file. */
  readonly source: string
  /** The comment above it, in one line. */
  readonly says: string
}

export interface Exports {
  readonly declarations: readonly Declaration[]
  /** Other packages whose exports are passed on. */
  readonly packages: readonly string[]
  /** The names of theirs that are passed on. */
  readonly passedOn: readonly string[]
}

const exportFrom = /^export (?:type )?\{(?<names>[^}]*)\} from '(?<from>[^']+)'/gm
const comment = String.raw`(?:/\*\*(?<comment>(?:(?!\*/)[\s\S])*)\*/\s*)?`
const keywords = String.raw`(?:declare |abstract |async )*(?<kind>function|class|interface|type|const)\*?`

/** The exports of a file, sorted by name. */
export function exportsOf(file: string): Exports {
  const passedOn = [...read(file).matchAll(exportFrom)].map(({ groups = {} }) => groups)
  const [own, foreign] = [true, false].map((isOwn) =>
    passedOn.filter(({ from = '' }) => from.startsWith('.') === isOwn),
  ) as [typeof passedOn, typeof passedOn]
  const declarations = [
    ...declaredIn(file),
    ...own.flatMap(({ names = '', from = '' }) =>
      namesOf(names).map((name) => find(join(dirname(file), from), name)),
    ),
  ]
  return {
    declarations: declarations.toSorted((a, b) => (a.name < b.name ? -1 : 1)),
    passedOn: foreign.flatMap(({ names = '' }) => namesOf(names)).toSorted(),
    packages: [...new Set(foreign.map(({ from = '' }) => from))].toSorted(),
  }
}

function namesOf(list: string): string[] {
  return list
    .split(',')
    .map((each) => each.trim().replace(/^type /, ''))
    .filter((each) => each !== '')
}

function declaredIn(file: string): Declaration[] {
  const pattern = new RegExp(`${comment}^export ${keywords} (?<name>\\w+)`, 'gm')
  return [...read(file).matchAll(pattern)].map((match) => toDeclaration(match))
}

function toDeclaration(match: RegExpExecArray): Declaration {
  const { name = '', kind = '', comment: text = '' } = match.groups ?? {}
  const [whole] = match
  const start = match.index + whole.lastIndexOf('export ')
  return {
    name,
    kind: kind as Kind,
    source: match.input.slice(start),
    says: wholeComment(text),
  }
}

/** @throws {Error} when the file does not declare it, nor one that it passes on. */
function find(file: string, name: string): Declaration {
  const declared = declaredIn(file).find((each) => each.name === name)
  if (declared !== undefined) return declared
  for (const { groups = {} } of read(file).matchAll(exportFrom)) {
    const { names = '', from = '' } = groups
    if (namesOf(names).includes(name)) return find(join(dirname(file), from), name)
  }
  throw new Error(`${file} does not declare ${name}`)
}
