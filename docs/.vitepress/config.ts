import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type DefaultTheme, defineConfig } from 'vitepress'

const docs = join(import.meta.dirname, '..')

const guide = ['quick-start', 'overview', 'choosing', 'runtimes', 'stores', 'security', 'errors']

/** Pages of a folder that are in no list: a new provider shows up by itself. */
function pagesOf(folder: string, first: readonly string[]): DefaultTheme.SidebarItem[] {
  const names = globSync('*.md', { cwd: join(docs, folder) }).map((file) => file.slice(0, -3))
  const others = names.filter((name) => !first.includes(name)).toSorted()
  return [...first, ...others].map((name) => ({
    text: titleOf(join(docs, folder, `${name}.md`)),
    link: `/${folder}/${name}`,
  }))
}

function titleOf(file: string): string {
  return /^# (.+)$/m.exec(readFileSync(file, 'utf8'))?.[1]?.replaceAll('`', '') ?? file
}

/** Room for lines of 100 columns; a code in a table is not broken at its dashes. */
const style = `
  .VPDoc.has-aside .content-container { max-width: 880px !important }
  .VPDoc .container { max-width: 1240px !important }
  .vp-doc div[class*='language-'] code { font-size: 13px }
  @media (min-width: 768px) { .vp-doc td:not(:first-child) code { white-space: nowrap } }
`

export default defineConfig({
  title: 'Helix Agents',
  description: 'Typed workspaces for agents: files, commands, code and snapshots as tools',
  cleanUrls: true,
  head: [['style', {}, style]],
  themeConfig: {
    search: { provider: 'local' },
    sidebar: [
      { text: 'Guide', items: pagesOf('guide', guide) },
      { text: 'Modules', items: pagesOf('modules', ['fs', 'shell', 'code', 'snapshot']) },
      {
        text: 'Providers',
        items: pagesOf('providers', ['in-memory', 'local-bash', 'building', 'behaviours']),
      },
    ],
  },
})
