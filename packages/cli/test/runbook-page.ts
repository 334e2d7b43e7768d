import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const GUIDE = join(import.meta.dirname, '../../../docs/guide')

/** A page of the guide. */
export function page(name: string): string {
  return readFileSync(join(GUIDE, name), 'utf8')
}

/** Commands of the fences of a section, or of the whole page, in order; without their comments. */
export function commandsOf(name: string, section?: string): string[] {
  const lines = fencesOf(name, section).flatMap((code) => code.split('\n'))
  return lines.map((line) => line.split(' #')[0]?.trim() ?? '').filter((line) => line !== '')
}

/** The fences of a section, or of the whole page. */
export function fencesOf(name: string, section?: string): string[] {
  const parts = page(name).split(/^## /m)
  const text =
    section === undefined ? parts.join('\n') : parts.find((one) => one.startsWith(section))
  const fences = (text ?? '').matchAll(/^```sh\n(?<code>[\s\S]*?)^```$/gm)
  return [...fences].map(({ groups }) => groups?.code ?? '')
}

/** Commands inside of sentences and tables of a section, or of the whole page. */
export function inlineCommandsOf(name: string, section?: string): string[] {
  const parts = page(name).split(/^## /m)
  const text = section === undefined ? page(name) : parts.find((one) => one.startsWith(section))
  const found = (text ?? '').matchAll(/`(?<line>helix [^`]*)`/g)
  return [...found].map(({ groups }) => (groups?.line ?? '').replaceAll('\\|', '|'))
}
