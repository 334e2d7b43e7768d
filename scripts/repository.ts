import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The part of a package.json that the scripts read. */
export interface Manifest {
  readonly name: string
  readonly version: string
  readonly description?: string
  readonly private?: boolean
  readonly license?: string
  readonly keywords?: readonly string[]
  readonly homepage?: string
  readonly bugs?: { readonly url: string }
  readonly repository?: Readonly<Record<string, string>>
  readonly files?: readonly string[]
  readonly exports?: ExportMap
  /** Specifiers of its own that start with `#`. */
  readonly imports?: Readonly<Record<string, string>>
  readonly publishConfig?: { readonly access?: string; readonly exports?: ExportMap }
  readonly scripts?: Readonly<Record<string, string>>
  readonly dependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
}

/** A file, or one a condition. */
export type ExportTarget = string | { readonly [condition: string]: ExportTarget }

export type ExportMap = Readonly<Record<string, ExportTarget>>

/** The folder of the repository; `HELIX_ROOT` names a copy of it, for tests of generators. */
export const root = process.env.HELIX_ROOT ?? join(import.meta.dirname, '..')

const generated = ['**/node_modules/**', '**/dist/**', '**/cache/**', '**/.tarballs/**']

/** Paths that match, from the root of the repository and sorted; never installed or built files. */
export function find(pattern: string | readonly string[]): string[] {
  const patterns = typeof pattern === 'string' ? [pattern] : [...pattern]
  return globSync(patterns, { cwd: root, exclude: generated }).toSorted()
}

export function read(file: string): string {
  return readFileSync(join(root, file), 'utf8')
}

export function readManifest(folder: string): Manifest {
  return JSON.parse(read(join(folder, 'package.json'))) as Manifest
}

/** The source behind an entry point; where runtimes have different ones, that of all others. */
export function sourceOfTarget(target: ExportTarget | undefined): string | undefined {
  const source = typeof target === 'string' ? undefined : target?.['@helix-agents/source']
  return source === undefined || typeof source === 'string' ? source : defaultOf(source)
}

function defaultOf(target: ExportTarget): string | undefined {
  return typeof target === 'string' ? target : target.default && defaultOf(target.default)
}

/** Folder names below `packages/`. */
export function packageFolders(): string[] {
  return find('packages/*/package.json').flatMap((file) => file.split('/')[1] ?? [])
}
