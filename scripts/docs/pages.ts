import { find, read } from '../repository.ts'
import { sections } from './sections.ts'

const section = /^<!-- generated: (?<call>.+?) -->\n[\s\S]*?^<!-- end of generated -->$/gm

export interface Page {
  readonly file: string
  readonly current: string
  /** As the sources would have it. */
  readonly derived: string
}

/** Every page that holds a generated section. */
export function derivePages(): Page[] {
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
