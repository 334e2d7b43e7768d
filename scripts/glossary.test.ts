import { expect, test } from 'vitest'
import { entryPoints } from './public-names.ts'
import { find, packageFolders, read } from './repository.ts'

const glossary = read('docs/guide/glossary.md')
const terms = [...glossary.matchAll(/^- \*\*(?<term>[^*]+)\*\*: (?<means>.+)$/gm)].map(
  ({ groups = {} }) => ({ term: groups.term ?? '', means: groups.means ?? '' }),
)

/** Words of this code base for which the field has one, which stands beside it. */
const dialect: readonly (readonly [RegExp, string])[] = [
  [/\bgo(?:es)? on with\b/i, 'resume'],
  [/\bgave up for dead\b|\bgiven up for dead\b/i, 'presumed dead'],
  [/\btakes? up\b/i, 'resume'],
  [/\bheard of\b/i, 'acknowledged'],
  [/\bsomebody\b/i, 'another process, a caller'],
  [/\bspendings?\b/i, 'usage'],
  [/\bcarr(?:y|ies) out\b/i, 'run'],
  [/\bhears of\b/i, 'receives'],
]

/** Where such a word has another meaning, or still stands. This list may only shrink. */
const tolerated: ReadonlySet<string> = new Set([
  'activeOf',
  'CleanupOutcome',
  'CloudflareFileStoreWorkspaceProvider',
  'createReportingDirectory',
  'DueQuery',
  'JSAgentExecutor',
  'ReconcileKind',
  'TerminateOutcome',
  'TurnRequest',
  'docs/guide/cli.md',
  'docs/guide/errors.md',
  'docs/guide/fleet-runbook.md',
  'docs/guide/fleet.md',
  'docs/guide/knobs.md',
  'docs/guide/operating.md',
  'docs/guide/sandbox-testbed.md',
  'docs/modules/snapshot.md',
])

test('the glossary defines each term once, in one sentence', () => {
  const names = terms.map(({ term }) => term)
  expect(names.length).toBeGreaterThan(40)
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([])
  expect(terms.filter(({ means }) => !/^[^.]*[^. ]\.$/.test(means))).toEqual([])
})

test('every list item of the glossary is a term', () => {
  const items = glossary.split('\n').filter((line) => line.startsWith('- '))
  expect(items.length).toBe(terms.length)
})

test('no TSDoc of a public name uses a word of which the field has its own', () => {
  const texts = packageFolders()
    .flatMap((folder) => entryPoints(folder))
    .flatMap(({ declarations }) => declarations.map(({ name, says }) => [name, says] as const))
  expect(texts.flatMap(([name, says]) => offences(name, says))).toEqual([])
})

test('no page of the docs does', () => {
  const pages = find(['README.md', 'docs/{guide,modules,providers,recipes}/*.md'])
  const found = pages.flatMap((page) => offences(page, withoutCode(read(page))))
  expect(found).toEqual([])
})

function offences(where: string, text: string): string[] {
  if (tolerated.has(where)) return []
  return dialect.flatMap(([word, better]) => {
    const [found] = word.exec(text) ?? []
    return found === undefined ? [] : [`${where}: "${found}", say: ${better}`]
  })
}

function withoutCode(markdown: string): string {
  return markdown.replaceAll(/^```[\s\S]*?^```$/gm, '').replaceAll(/`[^`\n]*`/g, '')
}
