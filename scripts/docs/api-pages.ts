// The API reference: a page a package, all of it from the source.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { packageFolders, read, readManifest, sourceOfTarget, root } from '../repository.ts'
import {
  type ClassDeclaration,
  type Declaration,
  exportsOf,
  type InterfaceDeclaration,
  type TypeDeclaration,
} from './declarations.ts'
import { baseOf, callOf, constructorOf, membersOf, typeText } from './members.ts'
import type { Page } from './page.ts'
import { code, table } from './table.ts'
import { orderOf, taskOf } from './tasks.ts'

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

/** What a reader is after, by the names of packages; the first match counts. */
const purposes: readonly (readonly [title: string, names: RegExp])[] = [
  ['Testing', /-testbed$|conformance$/],
  ['Writing an agent', /^(?:sdk|core|create-)/],
  ['Models and chats', /^(?:llm-|ai-sdk$)/],
  ['Running it', /^(?:runtime-|worker)/],
  ['Keeping its sessions', /^store-/],
  ['Files, commands, code, snapshots', /^(?:workspace|shell|code|snapshot)-/],
  ['Operating it', /./],
]

function indexText(folders: readonly string[]): string {
  const groups = Map.groupBy(
    folders,
    (folder) => purposes.find(([, names]) => names.test(folder))?.[0],
  )
  const lists = purposes
    .flatMap(([title]) => [[title, groups.get(title) ?? []] as const])
    .filter(([, members]) => members.length > 0)
    .toSorted(([a], [b]) => Number(a === 'Testing') - Number(b === 'Testing'))
    .map(([title, members]) => `## ${title}\n\n${table(headings, members.map(indexRow))}`)
  return `# API reference\n\n${notice}\n\n${lists.join('\n\n')}\n`
}

const headings = ['package', 'holds', 'import from']

function indexRow(folder: string): string[] {
  const { name, description = '' } = readManifest(`packages/${folder}`)
  const doors = doorsOf(folder).map(({ specifier }) => code(specifier))
  return [`[${code(name)}](./${folder}.md)`, description, doors.join(' ')]
}

/** What is imported, and the source behind it. */
interface Door {
  readonly specifier: string
  readonly file: string
}

function doorsOf(folder: string): Door[] {
  const { name, exports = {} } = readManifest(`packages/${folder}`)
  return Object.entries(exports).flatMap(([path, target]) => {
    const source = sourceOfTarget(target)
    if (source === undefined) return []
    return [{ specifier: join(name, path), file: join('packages', folder, source) }]
  })
}

function packageText(folder: string): string {
  const { name, description = '' } = readManifest(`packages/${folder}`)
  const parts = doorsOf(folder).map(doorText)
  return `${[`# ${code(name)}`, `${description}. ${notice}`, ...parts].join('\n\n')}\n`
}

function doorText({ specifier, file }: Door): string {
  const { declarations, packages } = exportsOf(file)
  const passedOn = packages.map((name) => `[${code(name)}](./${name.split('/')[1] ?? ''}.md)`)
  const tasks = [...Map.groupBy(declarations, taskOf)].toSorted(
    ([a], [b]) => orderOf(a) - orderOf(b),
  )
  return [
    `## ${code(specifier)}`,
    passedOn.length === 0 ? '' : `Passes on what these export: ${passedOn.join(', ')}.`,
    ...tasks.flatMap(([task, members]) => [
      tasks.length === 1 ? '' : `### ${task}`,
      taskText(members),
    ]),
  ]
    .filter(isText)
    .join('\n\n')
}

function taskText(all: readonly Declaration[]): string {
  const [functions, classes, interfaces, types, values] = [
    all.filter((each) => each.kind === 'function'),
    all.filter((each) => each.kind === 'class'),
    all.filter((each) => each.kind === 'interface'),
    all.filter((each) => each.kind === 'type'),
    all.filter((each) => each.kind === 'const'),
  ]
  return [
    [
      ...functions.map((each) => item(code(callOf(each)), each.says)),
      ...values.map(({ name, says }) => item(code(name), says)),
    ].join('\n'),
    ...[...classes, ...interfaces].map(withMembers),
    ...types.map(typeParagraph),
  ]
    .filter(isText)
    .join('\n\n')
}

function withMembers(declaration: ClassDeclaration | InterfaceDeclaration): string {
  const { name, says } = declaration
  const base = baseOf(declaration)
  const call = declaration.kind === 'class' ? constructorOf(declaration) : undefined
  const members = membersOf(declaration).map((member) =>
    item([code(member.name), code(member.type)].filter(isText).join(' → '), member.says),
  )
  const remarks = [
    says,
    base === '' ? '' : `Extends ${code(base)}.`,
    call === undefined ? '' : `Made with ${code(call)}.`,
  ]
  return [`#### ${code(name)}`, remarks.filter(isText).join(' '), members.join('\n')]
    .filter(isText)
    .join('\n\n')
}

function typeParagraph(declaration: TypeDeclaration): string {
  const text = typeText(declaration)
  const is = text.length > LONGEST_TYPE ? '' : code(text)
  return [`#### ${code(declaration.name)}`, is, declaration.says].filter(isText).join('\n\n')
}

function item(what: string, says: string): string {
  return says === '' ? `- ${what}` : `- ${what}: ${says}`
}

function isText(text: string): boolean {
  return text !== ''
}
