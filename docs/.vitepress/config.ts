import { defineConfig } from 'vitepress'
import { llmsTexts, writeLlmsTexts } from './llms.ts'
import { sidebarGroups } from './sidebar.ts'

const repository = 'https://github.com/helix-agents/helix-agents'
const title = 'Helix Agents'
const description = 'Typed workspaces for agents: files, commands, code and snapshots as tools'
const sidebar = sidebarGroups()

/** Room for lines of 100 columns; a code in a table is not broken at its dashes. */
const style = `
  .VPDoc.has-aside .content-container { max-width: 880px !important }
  .VPDoc .container { max-width: 1240px !important }
  .vp-doc div[class*='language-'] code { font-size: 13px }
  @media (min-width: 768px) { .vp-doc td:not(:first-child) code { white-space: nowrap } }
`

export default defineConfig({
  title,
  description,
  cleanUrls: true,
  head: [['style', {}, style]],
  buildEnd: ({ outDir }) => writeLlmsTexts(outDir, llmsTexts({ title, description }, sidebar)),
  themeConfig: {
    search: { provider: 'local' },
    nav: [
      { text: 'Quick start', link: '/guide/quick-start' },
      { text: 'Guide', link: '/guide/overview', activeMatch: '^/(?:guide|modules)/(?!errors)' },
      { text: 'Recipes', link: '/recipes/coding-agent', activeMatch: '^/recipes/' },
      { text: 'Providers', link: '/guide/choosing', activeMatch: '^/providers/' },
      { text: 'Errors', link: '/guide/errors' },
      { text: 'API', link: '/reference/packages', activeMatch: '^/reference/' },
    ],
    socialLinks: [{ icon: 'github', link: repository }],
    editLink: {
      // The page evaluates the text of this function: nothing outside of it is known there.
      pattern: ({ filePath }) => {
        const home = 'https://github.com/helix-agents/helix-agents'
        const name = /^reference\/(?<name>.+)\.md$/.exec(filePath)?.groups?.name
        if (name === undefined) return `${home}/edit/main/docs/${filePath}`
        // The API reference is made from the sources: there is nothing to edit in its pages.
        return `${home}/tree/main/packages${name === 'packages' ? '' : `/${name}/src`}`
      },
      text: 'Edit this page',
    },
    outline: { level: [2, 3] },
    sidebar,
    footer: {
      message:
        'For language models: <a href="/llms.txt">llms.txt</a>, <a href="/llms-full.txt">llms-full.txt</a>. MIT licence.',
    },
  },
})
