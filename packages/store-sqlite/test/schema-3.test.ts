// A database of schema version 3, opened by this release: every field of it is still read.
import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { NOW, told } from './fixtures/schema-3-content.ts'
import { opened } from './script.ts'
import { temporaryDirectory } from './temporary-directory.ts'

async function frozenStore(version: number) {
  const path = join(temporaryDirectory(), 'copy.db')
  copyFileSync(join(import.meta.dirname, 'fixtures', `schema-${version}.db`), path)
  return (await opened(path)).stateStore
}

test('a session knows whether its workspaces outlive its runs', async () => {
  const store = await frozenStore(3)
  for (const [sessionId, keepWorkspaces] of told) {
    const session = await store.loadSession(sessionId)
    expect(session?.keepWorkspaces).toBe(keepWorkspaces)
    expect(session).toMatchObject({ status: 'running', leaseUntil: NOW + 30_000 })
  }
})

test('a session of an earlier version was told nothing, and can be', async () => {
  const store = await frozenStore(2)
  expect(await store.loadSession('crashed')).not.toHaveProperty('keepWorkspaces')
  const run = { sessionId: 'crashed', runId: 'run-2', leaseMs: 30_000, now: NOW + 60_000 }
  const session = await store.beginRun({ ...run, keepWorkspaces: true })
  expect(session.keepWorkspaces).toBe(true)
})
