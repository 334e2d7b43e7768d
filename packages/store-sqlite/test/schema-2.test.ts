// A database of schema version 2, opened by this release: every field of it is still read.
import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { answer, NOW, spent } from './fixtures/schema-2-content.ts'
import { opened } from './script.ts'
import { temporaryDirectory } from './temporary-directory.ts'

async function frozenStore() {
  const path = join(temporaryDirectory(), 'copy.db')
  copyFileSync(join(import.meta.dirname, 'fixtures', 'schema-2.db'), path)
  return (await opened(path)).stateStore
}

test('a session knows what its run has used, and what its provider wants back', async () => {
  const store = await frozenStore()
  expect(await store.loadSession('crashed')).toMatchObject({ status: 'running', spending: spent })
  const { messages } = await store.loadMessages('crashed')
  expect(messages).toEqual([{ role: 'user', content: 'Go.' }, answer])
  expect(JSON.stringify(messages)).toContain('__proto__')
})

test('a session that used nothing says nothing, and one may go on', async () => {
  const store = await frozenStore()
  expect(await store.loadSession('idle')).not.toHaveProperty('spending')
  const now = NOW + 60_000
  await store.beginRun({ sessionId: 'crashed', runId: 'run-2', leaseMs: 30_000, now })
  const spending = { ...spent, modelCalls: 3 }
  const write = { sessionId: 'crashed', runId: 'run-2', now }
  await store.commitStep({ ...write, messages: [], checkpointId: 'cp', spending })
  expect((await store.loadSession('crashed'))?.spending).toEqual(spending)
})
