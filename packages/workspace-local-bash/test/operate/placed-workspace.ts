import { mkdirSync, mkdtempSync, rmSync, utimesSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach } from 'vitest'
import { ownMarker, type OwnerMarker, writeOwner } from '../../src/owner.ts'

/** The time of all that lies in a placed workspace, in milliseconds since the epoch. */
export const PLACED_MS = 1_000_000_000

export const NAME = 'helix-ws-abcdef'

/** An owner that does not run any more. */
export const DEAD = { pid: 1, startTime: 1, bootId: 'of an earlier start' } as const

/** The marker of this process, with changes. */
export function markerOf(more: Partial<OwnerMarker> = {}): OwnerMarker {
  return { ...ownMarker({ env: {}, sinceMs: PLACED_MS, session: 's', isolation: 'none' }), ...more }
}

/** A directory for workspaces in each test of a file. */
export function useRoot(): () => string {
  let root = ''
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'helix-operate-'))
  })
  afterEach(() => rmSync(root, { recursive: true, force: true }))
  return () => root
}

/** A workspace as a process leaves it. */
export function place(root: string, marker: OwnerMarker, name = NAME): string {
  const path = join(root, name)
  for (const part of ['root', 'scratch', 'tmp']) mkdirSync(join(path, part), { recursive: true })
  writeOwner(path, marker)
  date(path)
  return path
}

/** Gives all parts of a workspace one time. */
export function date(path: string, ms = PLACED_MS): void {
  for (const part of ['root', 'scratch', 'tmp', '']) utimesSync(join(path, part), 1, ms / 1000)
}
