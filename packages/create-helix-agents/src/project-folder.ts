import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { CreateError } from './create-error.ts'

/** Left by git and by file managers in a folder that a person calls empty. */
const HARMLESS: ReadonlySet<string> = new Set(['.git', '.DS_Store', 'Thumbs.db'])
const SHOWN = 5

/** The folder of a new project, which can be taken back. */
export class ProjectFolder {
  readonly path: string
  /** The topmost folder that was made; absent when the folder was there. */
  readonly #made: string | undefined
  readonly #before: ReadonlySet<string>

  /**
   * Makes the folder, with its parents, or takes one that is empty.
   * @throws {CreateError} `folder-not-empty`; `write-failed` when it cannot be made.
   */
  constructor(path: string) {
    this.path = path
    this.#made = attempt(path, () => mkdirSync(path, { recursive: true }))
    const entries = attempt(path, () => readdirSync(path))
    this.#before = new Set(entries)
    const others = entries.filter((name) => !HARMLESS.has(name))
    if (others.length > 0) throw notEmpty(path, others)
  }

  /** Writes a file; one that is there already is never overwritten. */
  write(name: string, content: string | Uint8Array): void {
    const file = join(this.path, name)
    attempt(file, () => {
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, content, { flag: 'wx' })
    })
  }

  /** Removes what was made since, also what an install has left; what was there before stays. */
  remove(): void {
    const options = { recursive: true, force: true, maxRetries: 5 } as const
    if (this.#made !== undefined) return rmSync(this.#made, options)
    for (const name of readdirSync(this.path)) {
      if (!this.#before.has(name)) rmSync(join(this.path, name), options)
    }
  }
}

/** The files of a template by their paths in a project. */
export function templateFiles(folder: string): ReadonlyMap<string, Buffer> {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile())
  return new Map(
    files.map(({ name, parentPath }) => {
      const path = join(parentPath, name).slice(folder.length + 1)
      // npm leaves a .gitignore out of a tarball.
      return [path.replace(/(^|\/)_gitignore$/, '$1.gitignore'), readFileSync(join(folder, path))]
    }),
  )
}

function attempt<T>(path: string, action: () => T): T {
  try {
    return action()
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new CreateError('write-failed', `${path} cannot be written: ${reason}`, { cause })
  }
}

function notEmpty(path: string, entries: readonly string[]): CreateError {
  const shown = entries.slice(0, SHOWN).join(', ')
  const more = entries.length > SHOWN ? ` and ${entries.length - SHOWN} more` : ''
  const problem = `${path} is not empty: it holds ${shown}${more}. Nothing was changed.`
  return new CreateError('folder-not-empty', problem)
}
