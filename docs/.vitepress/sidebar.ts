import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export const docsRoot = join(import.meta.dirname, '..')

/** A page by its path below the docs, without `.md`. */
export interface SidebarPage {
  readonly text: string
  readonly link: string
}

/** A group of the sidebar. */
export interface SidebarGroup {
  readonly text: string
  readonly collapsed?: boolean
  readonly items: SidebarPage[]
}

const start = [
  'quick-start',
  'why',
  'overview',
  'glossary',
  'choosing',
  'runtimes',
  'models',
  'cloudflare',
  'sandbox-testbed',
  'faq',
  'troubleshooting',
  'comparison',
]
const recipes = ['coding-agent', 'research-agent', 'data-agent', 'support-bot']
const sessions = [
  'lifecycle',
  'sessions',
  'people-in-the-loop',
  'going-back',
  'snapshot-stores',
  'stores',
  'building-stores',
  'many-machines',
  'streams',
  'chat',
]
const production = [
  'deploying',
  'costs',
  'security',
  'observability',
  'health',
  'debugging',
  'operating',
  'fleet',
  'fleet-runbook',
  'cli',
  'upgrading',
  'changelog',
]
const providers = ['in-memory', 'local-bash', 'cloudflare-filestore', 'cloudflare-sandbox']

/** Every page of the docs, in reading order. A page that no list names stands in the reference. */
export function sidebarGroups(): SidebarGroup[] {
  const listed = new Set([...start, ...sessions, ...production])
  const others = namesOf('guide').filter((name) => !listed.has(name))
  return [
    { text: 'Start', items: pagesOf('guide', start) },
    { text: 'Recipes', items: allOf('recipes', recipes) },
    { text: 'Sessions', items: pagesOf('guide', sessions) },
    { text: 'Production', items: pagesOf('guide', production) },
    { text: 'Modules', items: allOf('modules', ['fs', 'shell', 'code', 'snapshot']) },
    { text: 'Providers', items: allOf('providers', [...providers, 'building', 'behaviours']) },
    { text: 'Reference', items: pagesOf('guide', others) },
    { text: 'API', collapsed: true, items: allOf('reference', ['packages', 'core']) },
  ]
}

function namesOf(folder: string): string[] {
  const files = globSync('*.md', { cwd: join(docsRoot, folder) })
  return files.map((file) => file.slice(0, -3)).toSorted()
}

/** All pages of a folder, some of them first: a new provider shows up by itself. */
function allOf(folder: string, first: readonly string[]): SidebarPage[] {
  return pagesOf(folder, [...new Set([...first, ...namesOf(folder)])])
}

function pagesOf(folder: string, names: readonly string[]): SidebarPage[] {
  return names.map((name) => ({
    text: titleOf(join(docsRoot, folder, `${name}.md`)),
    link: `/${folder}/${name}`,
  }))
}

function titleOf(file: string): string {
  return /^# (.+)$/m.exec(readFileSync(file, 'utf8'))?.[1]?.replaceAll('`', '') ?? file
}
