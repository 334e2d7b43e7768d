// What `@helix-agents/sdk` re-exports: the first entry points of four packages. `pnpm sdk:gen` writes
// its index; the test beside this compares.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { read, root } from './repository.ts'

/** The packages behind the umbrella, in the order of the index. */
export const umbrella = ['core', 'runtime-js', 'store-memory', 'workspace-memory'] as const

/** What the package of one runtime offers to another: imported from there. */
const leftOut: ReadonlySet<string> = new Set([
  'BranchSeed',
  'endStream',
  'loadBranchSeed',
  'StreamEnd',
])

const exportBlock = /^export (?<kind>type )?\{(?<names>[^}]*)\} from/gm
const header =
  '// The umbrella: the names of four packages, and nothing of its own. Made by `pnpm sdk:gen`.'

/** What the umbrella takes of the first entry point of a package, types as `type Name`, sorted. */
export function exportsOf(name: string): string[] {
  const source = read(`packages/${name}/src/index.ts`).replaceAll(/\/\/.*$/gm, '')
  const names = [...source.matchAll(exportBlock)].flatMap((match) => {
    const items = (match.groups?.names ?? '').split(',').map((item) => item.trim())
    const filled = items.filter((item) => item !== '').map((item) => item.replace(/^.* as /, ''))
    return match.groups?.kind ? filled.map((item) => `type ${item}`) : filled
  })
  const taken = names.filter((each) => !leftOut.has(bareName(each)))
  return taken.toSorted((a, b) => (sortKey(a) < sortKey(b) ? -1 : 1))
}

/** The index of the umbrella package, as the formatter leaves it. */
export function renderIndex(): string {
  const blocks = umbrella
    .map((name) => [name, exportsOf(name)] as const)
    .filter(([, names]) => names.length > 0)
    .map(([name, names]) => renderBlock(`@helix-agents/${name}`, names))
  return `${header}\n${blocks.join('\n')}`
}

function renderBlock(from: string, names: readonly string[]): string {
  const inOneLine = `export { ${names.join(', ')} } from '${from}'\n`
  if (inOneLine.length <= 101) return inOneLine
  return `export {\n${names.map((name) => `  ${name},\n`).join('')}} from '${from}'\n`
}

function bareName(item: string): string {
  return item.replace(/^type /, '')
}

function sortKey(name: string): string {
  return bareName(name).toLowerCase()
}

if (import.meta.main) writeFileSync(join(root, 'packages/sdk/src/index.ts'), renderIndex())
