import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ManualClock } from '@helix-agents/core/testing'
import { defineConformance } from '@helix-agents/workspace-conformance'
import { snapshotStoreBehaviours } from '@helix-agents/workspace-conformance/store'
import { DirectorySnapshotStore } from '@helix-agents/workspace-local-bash/parts'
import { afterAll, describe, it } from 'vitest'

/** Changes one byte of the only file whose path ends so. */
function damage(directory: string, end: string): void {
  const names = readdirSync(directory, { recursive: true, encoding: 'utf8' })
  const path = join(directory, names.find((name) => name.endsWith(end)) ?? '')
  const bytes = readFileSync(path)
  const at = bytes.length - 3 < 0 ? 0 : bytes.length - 3
  bytes[at] = (bytes[at] ?? 0) ^ 1
  writeFileSync(path, bytes)
}

describe('DirectorySnapshotStore', () => {
  const made: string[] = []
  afterAll(() => {
    for (const directory of made) rmSync(directory, { recursive: true })
  })
  defineConformance({ it, fails: it.fails }, snapshotStoreBehaviours, {
    offers: ['durable', 'damage'],
    create: async () => {
      const directory = mkdtempSync(join(tmpdir(), 'helix-store-'))
      made.push(directory)
      const clock = new ManualClock(Date.now())
      return {
        store: new DirectorySnapshotStore({ directory, clock }),
        advance: (ms) => clock.advance(ms),
        reopen: async () => new DirectorySnapshotStore({ directory, clock }),
        damageBlock: async (hash) => damage(directory, hash.slice(2)),
        damageManifest: async (id) => damage(directory, id),
      }
    },
  })
})
