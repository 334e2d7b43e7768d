import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { TmpdirFileSystem } from '@helix-agents/workspace-local-bash/parts'

/** A file system in a directory of its own, with a place next to it that must stay untouched. */
export interface OpenedFileSystem {
  readonly fs: TmpdirFileSystem
  readonly base: string
  readonly root: string
  /** Outside of the root. */
  readonly outside: string
  dispose(): void
}

export function openFileSystem(): OpenedFileSystem {
  const base = mkdtempSync(join(tmpdir(), 'helix-test-'))
  const [root, scratch, outside] = ['root', 'scratch', 'outside'].map((name) => join(base, name))
  for (const directory of [root!, scratch!, outside!]) mkdirSync(directory)
  const fs = new TmpdirFileSystem({
    root: root!,
    scratch: scratch!,
    restore: () => mkdirSync(root!, { recursive: true }),
  })
  const dispose = (): void => rmSync(base, { recursive: true, force: true })
  return { fs, base, root: root!, outside: outside!, dispose }
}
