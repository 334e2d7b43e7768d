import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type DefaultTheme, defineConfig } from 'vitepress'

const docs = join(import.meta.dirname, '..')

const start = [
  'quick-start',
  'overview',
  'glossary',
  'choosing',
  'runtimes',
  'models',
  'cloudflare',
  'sandbox-testbed',
]
const sessions = [
  'lifecycle',
  'sessions',
  'people-in-the-loop',
  'stores',
  'building-stores',
  'streams',
  'chat',
]
const production = [
  'security',
  'observability',
  'health',
  'debugging',
  'operating',
  'fleet',
  'fleet-runbook',
  'cli',
  'upgrading',
]
const elsewhere = new Set([...start, ...sessions, ...production])
const reference = namesOf('guide').filter((name) => !elsewhere.has(name))

function namesOf(folder: string): string[] {
  const files = globSync('*.md', { cwd: join(docs, folder) })
  return files.map((file) => file.slice(0, -3)).toSorted()
}

/** All pages of a folder, some of them first: a new provider shows up by itself. */
function allOf(folder: string, first: readonly string[]): DefaultTheme.SidebarItem[] {
  return itemsOf(folder, [...new Set([...first, ...namesOf(folder)])])
}

function itemsOf(folder: string, names: readonly string[]): DefaultTheme.SidebarItem[] {
  return names.map((name) => ({
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
      { text: 'Start', items: itemsOf('guide', start) },
      { text: 'Sessions', items: itemsOf('guide', sessions) },
      { text: 'Production', items: itemsOf('guide', production) },
      { text: 'Modules', items: allOf('modules', ['fs', 'shell', 'code', 'snapshot']) },
      {
        text: 'Providers',
        items: allOf('providers', [
          'in-memory',
          'local-bash',
          'cloudflare-filestore',
          'cloudflare-sandbox',
          'building',
          'behaviours',
        ]),
      },
      { text: 'Reference', items: itemsOf('guide', reference) },
      { text: 'API', collapsed: true, items: allOf('reference', ['packages', 'core']) },
    ],
  },
})
