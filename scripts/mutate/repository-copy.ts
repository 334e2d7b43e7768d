import { execFileSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

/**
 * A copy of the files of the repository, changed ones included, in a temporary folder. Mutants are
 * written there and nowhere else, so no end of the process leaves one in the repository.
 */
export class RepositoryCopy {
  /** The root of the copy. */
  readonly folder: string
  /** For the temporary files of its tests. */
  readonly temporary: string
  /** What holds both: all that a mutant may write to. */
  readonly outer: string
  readonly #originals = new Map<string, Buffer | undefined>()

  constructor(root: string) {
    this.outer = mkdtempSync(join(tmpdir(), 'helix-mutants-'))
    this.folder = join(this.outer, 'repository')
    this.temporary = join(this.outer, 'tmp')
    mkdirSync(this.folder)
    mkdirSync(this.temporary)
    for (const file of filesOf(root)) {
      mkdirSync(dirname(join(this.folder, file)), { recursive: true })
      cpSync(join(root, file), join(this.folder, file))
    }
    linkModules(root, this.folder)
  }

  /** Gives a file another text, or adds one, until `restore`. */
  write(file: string, text: string): void {
    const path = join(this.folder, file)
    if (!this.#originals.has(file)) {
      this.#originals.set(file, existsSync(path) ? readFileSync(path) : undefined)
    }
    writeFileSync(path, text)
  }

  /** Gives every file its own text again, and removes what was added. */
  restore(): void {
    for (const [file, original] of this.#originals) {
      const path = join(this.folder, file)
      if (original === undefined) rmSync(path, { force: true })
      else writeFileSync(path, original)
    }
    this.#originals.clear()
  }

  /** Removes the copy. */
  remove(): void {
    rmSync(this.outer, { recursive: true, force: true })
  }
}

/** Tracked files and new ones, but for what is ignored; what was deleted is left out. */
function filesOf(root: string): readonly string[] {
  const list = execFileSync('git', ['ls-files', '-z', '-co', '--exclude-standard'], { cwd: root })
  const files = list.toString().split('\0')
  return files.filter((file) => file !== '' && existsSync(join(root, file)))
}

/**
 * The root's dependencies are shared by links. Those of a package are copied as they are, as
 * relative links: then one package of the copy imports another one of the copy.
 */
function linkModules(root: string, folder: string): void {
  mkdirSync(join(folder, 'node_modules'))
  for (const name of readdirSync(join(root, 'node_modules'))) {
    // Caches stay apart.
    if (/^\.(?:vite|cache)/.test(name)) continue
    symlinkSync(join(root, 'node_modules', name), join(folder, 'node_modules', name))
  }
  for (const modules of globSync('{packages/*,examples/*,docs,bench}/node_modules', {
    cwd: root,
  })) {
    cpSync(join(root, modules), join(folder, modules), { recursive: true, verbatimSymlinks: true })
  }
}
