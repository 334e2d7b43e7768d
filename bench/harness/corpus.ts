import { createHash } from 'node:crypto'
import { existsSync, globSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'

export interface CorpusFile {
  /** Absolute in a workspace. */
  readonly path: string
  readonly text: string
}

/** The peers bring far more files than the workspace itself. */
const source = [
  join(import.meta.dirname, '../peers/node_modules/.pnpm'),
  join(import.meta.dirname, '../../node_modules/.pnpm'),
].find(existsSync)
const MAX_BYTES = 256 * 1024

let listing: string[] | undefined

/**
 * Real source files out of the installed dependencies, each under a folder of its package, in
 * an order that is the same everywhere but follows no folder.
 */
export function corpus(count: number): CorpusFile[] {
  if (source === undefined) throw new Error('no dependencies are installed')
  listing ??= globSync('*/node_modules/**/*.{js,mjs,cjs,ts,mts,cts,json,md}', { cwd: source })
    .filter((path) => !path.includes('/.bin/'))
    .toSorted((a, b) => (digest(a) < digest(b) ? -1 : 1))
  const files: CorpusFile[] = []
  for (const path of listing) {
    if (files.length === count) break
    const absolute = join(source, path)
    const stat = statSync(absolute)
    if (!stat.isFile() || stat.size > MAX_BYTES) continue
    files.push({ path: `/${path}`, text: readFileSync(absolute, 'utf8') })
  }
  return files
}

const digests = new Map<string, string>()

function digest(path: string): string {
  const known = digests.get(path) ?? createHash('md5').update(path).digest('hex')
  digests.set(path, known)
  return known
}
