// The templates of `create-helix-agents` as they are published: with the versions of the catalog and
// of our packages, and without what serves this repository only. Its build calls this.
import { cpSync, globSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { withVersions } from '../example-versions.ts'
import { find, root } from '../repository.ts'

const templates = 'packages/create-helix-agents/templates'
const leftBehind =
  /^(?:node_modules|dist|\.data|\.wrangler|\.env|tsconfig\.(?:node\.)?workspace\.json|.*\.tsbuildinfo)$/

/** A line of code that serves this repository only. */
const notPublished = /^.*\/\/ not published\n/gm

/** Writes them below a folder, in place of what is there. */
export function buildTemplates(target: string): void {
  rmSync(target, { recursive: true, force: true })
  for (const manifest of find(`${templates}/*/package.json`)) {
    const name = manifest.split('/').at(-2) ?? ''
    const folder = join(target, name)
    const filter = (path: string): boolean => !leftBehind.test(basename(path))
    cpSync(join(root, templates, name), folder, { recursive: true, filter })
    // npm leaves a .gitignore out of a tarball, and what it lists.
    renameSync(join(folder, '.gitignore'), join(folder, '_gitignore'))
    rewrite(join(folder, 'package.json'), withVersions)
    for (const file of globSync('src/*.ts', { cwd: folder })) {
      rewrite(join(folder, file), (text) => text.replaceAll(notPublished, ''))
    }
  }
}

function rewrite(file: string, change: (text: string) => string): void {
  writeFileSync(file, change(readFileSync(file, 'utf8')))
}

if (import.meta.main) buildTemplates(join(root, 'packages/create-helix-agents/dist/templates'))
