// The docs as text for language models: `llms.txt` is the list of all pages, `llms-full.txt` holds
// all of them, and each page stands as Markdown beside its HTML.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { docsRoot, type SidebarGroup } from './sidebar.ts'

/** What stands above the pages. */
export interface SiteTexts {
  readonly title: string
  readonly description: string
}

/** @returns the files by their path below the root of the site. */
export function llmsTexts(
  { title, description }: SiteTexts,
  groups: readonly SidebarGroup[],
): ReadonlyMap<string, string> {
  const head = `# ${title}\n\n> ${description}\n`
  const pages = groups.flatMap(({ items }) =>
    items.map(({ link }) => [`${link.slice(1)}.md`, textOf(link)] as const),
  )
  const lists = groups.map(({ text, items }) => {
    const lines = items.map((page) => `- [${page.text}](${page.link}.md)`)
    return `\n## ${text}\n\n${lines.join('\n')}\n`
  })
  // The API reference is three times as long as the guide: its pages are linked, not included.
  const whole = pages.filter(([path]) => !path.startsWith('reference/')).map(([, text]) => text)
  return new Map([
    ['llms.txt', head + lists.join('')],
    ['llms-full.txt', `${head}\n${whole.join('\n')}`],
    ...pages,
  ])
}

/** Writes them beside the pages of the built site. */
export function writeLlmsTexts(site: string, texts: ReadonlyMap<string, string>): void {
  for (const [path, text] of texts) {
    mkdirSync(dirname(join(site, path)), { recursive: true })
    writeFileSync(join(site, path), text)
  }
}

/** A page without its marks of generated sections and without frontmatter. */
function textOf(link: string): string {
  const source = readFileSync(join(docsRoot, `${link}.md`), 'utf8')
  return source
    .replace(/^---\n[\s\S]*?\n---\n/, '')
    .replaceAll(/^<!-- (?:generated|end of generated).*-->\n+/gm, '')
}
