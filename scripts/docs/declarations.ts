// What an entry point exports, and where each export is declared.
import { dirname, join } from 'node:path'
import type {
  Class,
  Declaration as Declared,
  ExportNamedDeclaration,
  Function as FunctionNode,
  TSInterfaceDeclaration,
  TSTypeAliasDeclaration,
} from 'oxc-parser'
import { SourceFile } from './source-file.ts'

interface Place {
  readonly name: string
  /** From the root of the repository. */
  readonly file: string
  readonly source: SourceFile
  /** The comment above it, in one line. */
  readonly says: string
}

export interface FunctionDeclaration extends Place {
  readonly kind: 'function'
  readonly node: FunctionNode
}
export interface ClassDeclaration extends Place {
  readonly kind: 'class'
  readonly node: Class
}
export interface InterfaceDeclaration extends Place {
  readonly kind: 'interface'
  readonly node: TSInterfaceDeclaration
}
export interface TypeDeclaration extends Place {
  readonly kind: 'type'
  readonly node: TSTypeAliasDeclaration
}
export interface ValueDeclaration extends Place {
  readonly kind: 'const'
}

export type Declaration =
  | FunctionDeclaration
  | ClassDeclaration
  | InterfaceDeclaration
  | TypeDeclaration
  | ValueDeclaration

export type Kind = Declaration['kind']

export interface Exports {
  readonly declarations: readonly Declaration[]
  /** Other packages whose exports are passed on. */
  readonly packages: readonly string[]
  /** The names of theirs that are passed on. */
  readonly passedOn: readonly string[]
}

/** The exports of a file, sorted by name. */
export function exportsOf(file: string): Exports {
  const passedOn = reexportsOf(file)
  const foreign = passedOn.filter(({ from }) => !from.startsWith('.'))
  const own = passedOn.filter(({ from }) => from.startsWith('.'))
  const declarations = [
    ...declarationsOf(file),
    ...own.map(({ name, from }) => find(join(dirname(file), from), name)),
  ]
  return {
    declarations: declarations.toSorted((a, b) => (a.name < b.name ? -1 : 1)),
    passedOn: foreign.map(({ name }) => name).toSorted(),
    packages: [...new Set(foreign.map(({ from }) => from))].toSorted(),
  }
}

/** The exported declarations of a file. */
export function declarationsOf(file: string, source = SourceFile.read(file)): Declaration[] {
  const found = exportsIn(source).flatMap(({ declaration, start, end }) => {
    const says = source.commentAbove({ start, end })
    return declaration === null ? [] : toDeclarations(declaration, { file, source, says })
  })
  // Of the overloads of a function, the first.
  return [...new Map(found.toReversed().map((one) => [one.name, one])).values()].toReversed()
}

function exportsIn({ program }: SourceFile): ExportNamedDeclaration[] {
  return program.body.filter((each) => each.type === 'ExportNamedDeclaration')
}

function toDeclarations(node: Declared, place: Omit<Place, 'name'>): Declaration[] {
  if (node.type === 'VariableDeclaration') {
    return node.declarations.flatMap(({ id }) =>
      id.type === 'Identifier' ? [{ ...place, kind: 'const', name: id.name }] : [],
    )
  }
  const name = 'id' in node && node.id?.type === 'Identifier' ? node.id.name : ''
  switch (node.type) {
    case 'ClassDeclaration':
      return [{ ...place, name, kind: 'class', node }]
    case 'TSInterfaceDeclaration':
      return [{ ...place, name, kind: 'interface', node }]
    case 'TSTypeAliasDeclaration':
      return [{ ...place, name, kind: 'type', node }]
    case 'FunctionDeclaration':
    case 'TSDeclareFunction':
      return [{ ...place, name, kind: 'function', node }]
    default:
      throw new Error(`${place.file}: an export of the kind ${node.type}`)
  }
}

interface Reexport {
  readonly name: string
  readonly from: string
}

function reexportsOf(file: string): Reexport[] {
  return exportsIn(SourceFile.read(file)).flatMap(({ source, specifiers }) =>
    source === null
      ? []
      : specifiers.map(({ exported }) => ({
          name: exported.type === 'Literal' ? exported.value : exported.name,
          from: source.value,
        })),
  )
}

/** @throws {Error} when the file does not declare it, nor one that it passes on. */
function find(file: string, name: string): Declaration {
  const declared = declarationsOf(file).find((each) => each.name === name)
  if (declared !== undefined) return declared
  const passedOn = reexportsOf(file).find((each) => each.name === name)
  if (passedOn !== undefined) return find(join(dirname(file), passedOn.from), name)
  throw new Error(`${file} does not declare ${name}`)
}
