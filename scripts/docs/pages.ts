import { find, read } from '../repository.ts'
import { apiPages } from './api-pages.ts'
import type { Page } from './page.ts'
import { sections } from './sections.ts'

const section = /^<!-- generated: (?<call>.+?) -->\n[\s\S]*?^<!-- end of generated -->$/gm

/** Every page that is generated, or holds a generated section. */
export function derivePages(): Page[] {
  return [...pagesWithSections(), ...apiPages()]
}

function pagesWithSections(): Page[] {
  return find(['*.md', '{docs,examples}/**/*.md']).flatMap((file) => {
    const current = read(file)
    if (current.match(section) === null) return []
    return [{ file, current, derived: current.replace(section, fill) }]
  })
}

function fill(_: string, call: string): string {
  const [name = '', ...args] = call.split(' ')
  const render = sections[name]
  if (render === undefined) throw new Error(`no generated section is named ${name}`)
  return `<!-- generated: ${call} -->\n\n${render(...args)}\n\n<!-- end of generated -->`
}
