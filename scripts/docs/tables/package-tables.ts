import { find, read, readManifest } from '../../repository.ts'
import { code, table } from '../table.ts'

interface Listed {
  readonly folder: string
  readonly name: string
  readonly description: string
}

/** Every package, in the order in which `tsconfig.json` lists them. */
function listedPackages(): readonly Listed[] {
  const { references } = JSON.parse(read('tsconfig.json')) as { references: { path: string }[] }
  return references.flatMap(({ path }) => {
    if (!/^packages\/[^/]+$/.test(path)) return []
    const { name, description = '' } = readManifest(path)
    return [{ folder: path, name, description }]
  })
}

/** What each package holds: its `description`. With a prefix, the packages of one family. */
export function packageTable(prefix = ''): string {
  const rows = listedPackages()
    .filter(({ folder }) => folder.startsWith(`packages/${prefix}`))
    .map(({ name, description }) => [code(name), description])
  return table(['Package', 'Holds'], rows)
}

/** The same by folder. */
export function packageMap(): string {
  const rows = listedPackages().map(({ folder, description }) => [
    code(`${folder}/src`),
    description,
  ])
  return table(['Path', 'What'], rows)
}

interface ListedProvider {
  readonly kind: string
  readonly says: string
}

/** A provider says so in its description: Provider `kind`: what it is. */
function listedProviders(): readonly ListedProvider[] {
  return listedPackages().flatMap(({ description }) => {
    const found = /^Provider `(?<kind>[^`]+)`: (?<says>.+)$/.exec(description)?.groups
    return found === undefined ? [] : [{ kind: found.kind ?? '', says: found.says ?? '' }]
  })
}

/** What each provider is, with a link to its page. */
export function providerChoices(): string {
  const rows = listedProviders().map(({ kind, says }) => [
    `[${code(kind)}](../providers/${kind}.md)`,
    says,
  ])
  return table(['Provider', 'What it is'], rows)
}

/** Questions that the page of every provider answers, as `pnpm new-provider` asks them. */
const QUESTIONS = [
  'Isolation',
  'Survives a pause',
  'Survives a restart',
  'What `close()` does',
  'What `detach()` does',
]

/** The answers of the providers' pages, side by side. */
export function providerAnswers(): string {
  const pages = listedProviders().map(({ kind }) => ({ kind, answers: answersOf(kind) }))
  const rows = QUESTIONS.map((question) => [
    question,
    ...pages.map(({ answers }) => answers.get(question) ?? ''),
  ])
  return table(['', ...pages.map(({ kind }) => code(kind))], rows)
}

function answersOf(kind: string): ReadonlyMap<string, string> {
  const [page] = find(`docs/providers/${kind}.md`)
  const rows = page === undefined ? [] : read(page).matchAll(/^\| (.+?) +\| (.*?) +\|$/gm)
  return new Map([...rows].map(([, question = '', answer = '']) => [question, answer]))
}
