// Compiles the fences of the docs, since running one says nothing about its types.
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { find, read, root } from './repository.ts'

const fence = /^```ts(?: run)?\n(?<code>[\s\S]*?)^```$/gm

export interface Fence {
  readonly page: string
  /** Of its first line of code, from 1. */
  readonly line: number
  readonly code: string
}

/** Every fence `ts` and `ts run` of the pages that users read; `ts fragment` is left out. */
export function docFences(): Fence[] {
  return find(['README.md', '{docs,examples,packages}/**/*.md']).flatMap(fencesOf)
}

function fencesOf(page: string): Fence[] {
  const markdown = read(page)
  return [...markdown.matchAll(fence)].map((match) => ({
    page,
    line: markdown.slice(0, match.index).split('\n').length + 1,
    code: match.groups?.code ?? '',
  }))
}

/** Compiles each fence as a module of its own; resolves to the errors, by page and line. */
export function typeErrorsOf(fences: readonly Fence[]): string[] {
  // Here the packages of the site resolve, and neither git nor the linter looks.
  const parent = join(root, 'docs/node_modules')
  mkdirSync(parent, { recursive: true })
  const folder = mkdtempSync(join(parent, '.doc-types-'))
  try {
    for (const [index, { code }] of fences.entries()) {
      writeFileSync(join(folder, `fence-${index}.ts`), `${code}\nexport {}\n`)
    }
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(project))
    return compile(folder).map((error) => located(error, fences))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const project = {
  extends: join(root, 'tsconfig.base.json'),
  compilerOptions: {
    composite: false,
    declaration: false,
    emitDeclarationOnly: false,
    rewriteRelativeImportExtensions: false,
    allowImportingTsExtensions: true,
    noEmit: true,
    types: ['node'],
    typeRoots: [join(root, 'node_modules/@types')],
  },
  include: ['*.ts'],
}

function compile(folder: string): string[] {
  const compiler = join(root, 'node_modules/.bin/tsc')
  // With several threads each checks what the fences share, for twice the processor time.
  const args = ['--project', '.', '--pretty', 'false', '--singleThreaded']
  const { stdout, status, error } = spawnSync(compiler, args, { cwd: folder, encoding: 'utf8' })
  if (error !== undefined) throw error
  if (status !== 0 && !stdout.includes('error TS')) throw new Error(`tsc failed: ${stdout}`)
  // What the fences import is compiled by its own project.
  return stdout.split('\n').filter((line) => line.startsWith('fence-'))
}

function located(error: string, fences: readonly Fence[]): string {
  const place = /^fence-(?<index>\d+)\.ts\((?<line>\d+),\d+\): (?<rest>.*)$/.exec(error)?.groups
  const found = fences[Number(place?.index)]
  if (found === undefined) return error
  return `${found.page}:${found.line + Number(place?.line) - 1} ${place?.rest}`
}
