import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type DefaultTheme, defineConfig } from 'vitepress'

const docs = join(import.meta.dirname, '..')

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

export default defineConfig({
  title: 'Helix Agents',
  description: 'Typed workspaces for agents: files, commands, code and snapshots as tools',
  cleanUrls: true,
  themeConfig: {
    search: { provider: 'local' },
    sidebar: [
      { text: 'Guide', items: pagesOf('guide', ['quick-start', 'overview', 'choosing']) },
      { text: 'Modules', items: pagesOf('modules', ['fs', 'shell', 'code', 'snapshot']) },
      {
        text: 'Providers',
        items: pagesOf('providers', ['in-memory', 'local-bash', 'building', 'behaviours']),
      },
    ],
  },
})
