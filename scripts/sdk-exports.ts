// What `@helix-agents/sdk` re-exports: the entry points of other packages. `pnpm sdk:gen` writes its
// sources; the test beside this compares.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { read, readManifest, sourceOfTarget, root } from './repository.ts'

/** Entry points of the umbrella → the entry points behind each, in the order of the file. */
export const umbrella: Readonly<Record<string, readonly string[]>> = {
  index: ['core', 'runtime-js', 'store-memory', 'workspace-memory'],
  node: [
    'store-sqlite',
    'workspace-local-bash',
    'workspace-local-bash/operate',
    'workspace-local-bash/parts',
  ],
  models: ['llm-vercel', 'llm-vercel/environment'],
}

/** What the package of one runtime offers to another: imported from there. */
const leftOut: ReadonlySet<string> = new Set([
  'BranchSeed',
  'endStream',
  'loadBranchSeed',
  'StreamEnd',
])

const exportBlock = /^export (?<kind>type )?\{(?<names>[^}]*)\} from/gm
const declared = /^export (?:async )?(?<kind>function|class|interface|type) (?<name>\w+)/gm
const header =
  '// The umbrella: names of other packages, and nothing of its own. Made by `pnpm sdk:gen`.'

/** What the umbrella takes of an entry point, such as `core`, types as `type Name`, sorted. */
export function exportsOf(entry: string): string[] {
  const source = sourceOf(entry).replaceAll(/\/\/.*$/gm, '')
  const names = [...source.matchAll(exportBlock)].flatMap((match) => {
    const items = (match.groups?.names ?? '').split(',').map((item) => item.trim())
    const filled = items.filter((item) => item !== '').map((item) => item.replace(/^.* as /, ''))
    return match.groups?.kind ? filled.map((item) => `type ${item}`) : filled
  })
  const own = [...source.matchAll(declared)].map(({ groups }) => {
    const isType = groups?.kind === 'interface' || groups?.kind === 'type'
    return `${isType ? 'type ' : ''}${groups?.name}`
  })
  const taken = [...names, ...own].filter((each) => !leftOut.has(bareName(each)))
  return taken.toSorted((a, b) => (sortKey(a) < sortKey(b) ? -1 : 1))
}

/** The source of an entry point, such as `core` or `llm-vercel/environment`. */
export function sourceOf(entry: string): string {
  const [folder = '', path] = entry.split('/')
  const target = readManifest(`packages/${folder}`).exports?.[path ? `./${path}` : '.']
  const source = sourceOfTarget(target)
  if (source === undefined) throw new Error(`no entry point ${entry}`)
  return read(join('packages', folder, source))
}

/** An entry point of the umbrella package, as the formatter leaves it. */
export function renderEntry(name: string): string {
  const blocks = (umbrella[name] ?? [])
    .map((entry) => [entry, exportsOf(entry)] as const)
    .filter(([, names]) => names.length > 0)
    .map(([entry, names]) => renderBlock(`@helix-agents/${entry}`, names))
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

if (import.meta.main) {
  for (const name of Object.keys(umbrella)) {
    writeFileSync(join(root, `packages/sdk/src/${name}.ts`), renderEntry(name))
  }
}
