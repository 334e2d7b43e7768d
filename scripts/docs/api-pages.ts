// The API reference: a page a package, all of it from the source.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { packageFolders, read, readManifest, sourceOfTarget, root } from '../repository.ts'
import { type Declaration, exportsOf, type Kind } from './declarations.ts'
import { callOf, constructorOf, membersOf, typeText } from './members.ts'
import type { Page } from './page.ts'
import { code, table } from './table.ts'

const FOLDER = 'docs/reference'
/** A longer type is told by its comment alone. */
const LONGEST_TYPE = 600

/** One page a package, and one that lists them. */
export function apiPages(): Page[] {
  const folders = packageFolders()
  return [
    toPage('packages', indexText(folders)),
    ...folders.map((folder) => toPage(folder, packageText(folder))),
  ]
}

function toPage(name: string, derived: string): Page {
  const file = `${FOLDER}/${name}.md`
  return { file, current: existsSync(join(root, file)) ? read(file) : '', derived }
}

const notice = 'Generated from the source by `pnpm docs:gen`.'

function indexText(folders: readonly string[]): string {
  const rows = folders.map((folder) => {
    const { name, description = '' } = readManifest(`packages/${folder}`)
    return [`[${code(name)}](./${folder}.md)`, description]
  })
  return `# API reference\n\n${notice}\n\n${table(['package', 'holds'], rows)}\n`
}

function packageText(folder: string): string {
  const { name, description = '', exports = {} } = readManifest(`packages/${folder}`)
  const entries = Object.entries(exports).flatMap(([path, target]) => {
    const source = sourceOfTarget(target)
    return source === undefined ? [] : [{ path, source }]
  })
  const parts = entries.map(({ path, source }) =>
    entryText(join(name, path), join('packages', folder, source)),
  )
  return `${[`# ${code(name)}`, `${description}. ${notice}`, ...parts].join('\n\n')}\n`
}

function entryText(specifier: string, file: string): string {
  const { declarations, packages } = exportsOf(file)
  const passedOn = packages.map((name) => `[${code(name)}](./${name.split('/')[1] ?? ''}.md)`)
  const parts = [
    `## ${code(specifier)}`,
    passedOn.length === 0 ? '' : `Passes on what these export: ${passedOn.join(', ')}.`,
    ...groups.map(({ kind, title, render }) => {
      const all = declarations.filter((each) => each.kind === kind)
      return all.length === 0 ? '' : `### ${title}\n\n${render(all)}`
    }),
  ]
  return parts.filter(isText).join('\n\n')
}

interface Group {
  readonly kind: Kind
  readonly title: string
  readonly render: (all: readonly Declaration[]) => string
}

const groups: readonly Group[] = [
  { kind: 'function', title: 'Functions', render: functionList },
  { kind: 'class', title: 'Classes', render: (all) => all.map(classText).join('\n\n') },
  { kind: 'interface', title: 'Interfaces', render: (all) => all.map(interfaceText).join('\n\n') },
  { kind: 'type', title: 'Types', render: (all) => all.map(typeParagraph).join('\n\n') },
  { kind: 'const', title: 'Values', render: (all) => all.map(valueItem).join('\n') },
]

function functionList(all: readonly Declaration[]): string {
  return all.map(({ name, source, says }) => item(code(callOf(source, name)), says)).join('\n')
}

function valueItem({ name, says }: Declaration): string {
  return item(code(name), says)
}

function classText(declaration: Declaration): string {
  const call = constructorOf(declaration.source, declaration.name)
  return withMembers(declaration, call === undefined ? '' : `Made with ${code(call)}.`)
}

function interfaceText(declaration: Declaration): string {
  return withMembers(declaration, '')
}

function withMembers({ name, source, says }: Declaration, remark: string): string {
  const [header = ''] = source.split('\n')
  const base = / extends (?<base>.+?)(?: implements .+)? \{/.exec(header)?.groups?.base
  const members = membersOf(source).map(({ name: call, type, says: meaning }) =>
    item([code(call), code(type)].filter(isText).join(' → '), meaning),
  )
  return [
    `#### ${code(name)}`,
    [says, base === undefined ? '' : `Extends ${code(base)}.`, remark].filter(isText).join(' '),
    members.join('\n'),
  ]
    .filter(isText)
    .join('\n\n')
}

function typeParagraph({ name, source, says }: Declaration): string {
  const text = typeText(source)
  const is = text.length > LONGEST_TYPE ? '' : code(text)
  return [`#### ${code(name)}`, is, says].filter(isText).join('\n\n')
}

function item(what: string, says: string): string {
  return says === '' ? `- ${what}` : `- ${what}: ${says}`
}

function isText(text: string): boolean {
  return text !== ''
}
