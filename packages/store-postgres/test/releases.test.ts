// Release N beside N+1 on one database.
import type { SequencedChunk } from '@helix-agents/core/runtime'
import { openPostgresStores } from '@helix-agents/store-postgres'
import { applyMigrations, type Migrations, serverMigrations } from '@helix-agents/store-sql'
import { expect, test } from 'vitest'
import { emptyPlace, opened, query } from './opened.ts'
import { begun, NOW, step, textsOf } from './script.ts'

/** What a later release might add. */
const later: Migrations = [
  ...serverMigrations,
  {
    adds: [
      'ALTER TABLE helix_sessions ADD COLUMN mood TEXT',
      'ALTER TABLE helix_streams ADD COLUMN mood TEXT',
      'ALTER TABLE helix_runs ADD COLUMN mood TEXT',
      'CREATE TABLE helix_moods (session INTEGER PRIMARY KEY, mood TEXT) STRICT',
    ],
  },
]

const names = ['0', '1', '2', '3', '4', '5', '6', '7']

test('a release that adds columns and tables, and the one before it, work side by side', async () => {
  const url = await emptyPlace()
  const present = await opened(url)
  const write = await begun(present.stateStore, 's')
  const writer = await present.streamManager.startRun('stream', 'run', 'agent')
  const chunk = { type: 'text_delta', agentId: 'run', agentType: 'agent', timestamp: NOW } as const
  const work = async (name: string): Promise<void> => {
    await present.stateStore.commitStep(step(write, name))
    await writer.write({ ...chunk, delta: name })
    await present.stateStore.listSessions()
    await present.stateStore.listCheckpoints('s')
  }
  // Each connection has prepared its statements by then.
  await Promise.all(names.slice(0, 4).map(work))
  const { database } = await opened(url)
  await applyMigrations(database, later, { now: NOW })
  await query(url, "UPDATE helix_sessions SET mood = 'good'")
  await Promise.all(names.slice(4).map(work))
  await present.streamManager.endRun('stream', 'run')

  // One of the present release that starts later, also one that may only check.
  for (const checkOnly of [false, true]) {
    const started = await opened(url, { checkOnly })
    expect(new Set(await textsOf(started.stateStore, 's'))).toEqual(new Set(names))
    const deltas: string[] = []
    for await (const one of (await started.streamManager.read('stream')) ?? [])
      deltas.push(textOf(one))
    expect(deltas.toSorted()).toEqual(names)
  }
  expect(await query(url, 'SELECT mood FROM helix_sessions')).toEqual([{ mood: 'good' }])
})

test('a release that changes what is there keeps the one before it out', async () => {
  const url = await emptyPlace()
  const { database } = await opened(url)
  const changed: Migrations = [...later, ['ALTER TABLE helix_sessions DROP COLUMN owed']]
  await applyMigrations(database, changed, { now: NOW })
  await expect(openPostgresStores(url)).rejects.toMatchObject({
    name: 'StateStoreError',
    code: 'schema-version',
    message: expect.stringContaining(
      `the database has schema version ${changed.length}`,
    ) as unknown,
  })
})

const textOf = (chunk: SequencedChunk): string => (chunk.type === 'text_delta' ? chunk.delta : '')
