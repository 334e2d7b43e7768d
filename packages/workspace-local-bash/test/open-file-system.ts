import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { TmpdirFileSystem } from '@helix-agents/workspace-local-bash/parts'
import { afterEach, beforeEach, expect } from 'vitest'
import { openFilesOf } from './open-files.ts'

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

/**
 * A file system for each test of a file, in which no test leaves a file open.
 * @param leavesNoDraft Nor may one leave what is unfinished.
 */
export function useFileSystem({ leavesNoDraft = false } = {}): () => OpenedFileSystem {
  let opened: OpenedFileSystem | undefined
  beforeEach(() => {
    opened = openFileSystem()
  })
  afterEach(() => {
    const left = opened && openFilesOf(opened.base)
    const drafts = opened && leavesNoDraft ? readdirSync(join(opened.base, 'scratch')) : []
    opened?.dispose()
    expect([left, drafts]).toEqual([0, []])
  })
  return () => opened ?? openFileSystem()
}
