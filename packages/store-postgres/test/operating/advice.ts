// What the page on many machines tells an operator to run, as it stands there.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const PAGE = join(import.meta.dirname, '../../../../docs/guide/many-machines.md')

/** The blocks of one language in a section. @throws {Error} when there are none. */
export function blocksOf(section: string, language: string): readonly string[] {
  const text = readFileSync(PAGE, 'utf8')
  const [, rest = ''] = text.split(`\n### ${section}\n`)
  const [own = ''] = rest.split(/\n##+ /)
  const fence = new RegExp(`\`\`\`${language}\n(.*?)\`\`\``, 'gs')
  const blocks = Array.from(own.matchAll(fence), ([, block = '']) => block)
  if (blocks.length === 0) throw new Error(`the page has no ${language} in its section ${section}`)
  return blocks
}

/** The lines of a configuration file. */
export function settingsOf(block: string): Readonly<Record<string, string>> {
  const lines = block.trim().split('\n')
  return Object.fromEntries(
    lines.map((line) => {
      const [, name = '', value = ''] = /^(\w+) = '?(.*?)'?$/.exec(line) ?? []
      return [name, value]
    }),
  )
}
