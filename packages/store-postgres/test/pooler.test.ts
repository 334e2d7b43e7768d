// Behind PgBouncer in transaction mode: each transaction may be on another connection of the server.
import { spawn, spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { SequencedChunk } from '@helix-agents/core/runtime'
import { startTestPostgres } from '@helix-agents/postgres-testbed'
import { expect, onTestFinished, test } from 'vitest'
import { opened, query } from './opened.ts'
import { begun, NOW, step, textsOf } from './script.ts'

const PROGRAM = 'pgbouncer'
const isInstalled = spawnSync(PROGRAM, ['--version']).error === undefined
const note = isInstalled ? '' : ` (left out: ${PROGRAM} is not installed)`
/** It refuses to run as root, and every system has this user. */
const AS_NOBODY = process.getuid?.() === 0 ? ['-u', 'nobody'] : []
const READY = 'process up'
/** Fewer than the connections of its clients. */
const SERVER_CONNECTIONS = 2

async function startPooler(url: string): Promise<string> {
  const target = new URL(url)
  const directory = mkdtempSync(join(tmpdir(), 'helix-pooler-'))
  chmodSync(directory, 0o777)
  const config = join(directory, 'pgbouncer.ini')
  const lines = [
    '[databases]',
    `* = host=${decodeURIComponent(target.host)} port=5432 user=${target.username}`,
    '[pgbouncer]',
    `unix_socket_dir = ${directory}`,
    'listen_port = 5432',
    'auth_type = any',
    'pool_mode = transaction',
    `default_pool_size = ${SERVER_CONNECTIONS}`,
  ]
  writeFileSync(config, lines.join('\n'))
  const child = spawn(PROGRAM, [...AS_NOBODY, config], { stdio: ['ignore', 'ignore', 'pipe'] })
  onTestFinished(async () => {
    const ended = new Promise((resolve) => child.once('exit', resolve))
    child.kill('SIGQUIT')
    await ended
    rmSync(directory, { recursive: true, force: true })
  })
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const log: string[] = []
  const output = createInterface({ input: child.stderr })
  output.on('line', (line) => (log.push(line), line.includes(READY) && resolve()))
  output.once('close', () => reject(new Error(`${PROGRAM} ended: ${log.join('\n')}`)))
  await promise
  return url.replace(target.host, encodeURIComponent(directory))
}

test.skipIf(!isInstalled)(`a pooler in transaction mode${note}`, async () => {
  await using server = await startTestPostgres()
  await using database = await server.createDatabase()
  const url = await startPooler(database.url)
  const writers = await opened(url, { listen: false })
  const readers = await opened(url, { listen: false, pollMs: 10 })
  const names = Array.from({ length: 8 }, (_, at) => `${at}`)
  const write = await begun(writers.stateStore, 's')
  const stream = await writers.streamManager.startRun('stream', 'run', 'agent')
  const chunk = { type: 'text_delta', agentId: 'run', agentType: 'agent', timestamp: NOW } as const
  const reading = Promise.all(names.map(() => deltasOf(readers.streamManager.read('stream'))))
  for (const delta of names) {
    await Promise.all([
      writers.stateStore.commitStep(step(write, delta)),
      stream.write({ ...chunk, delta }),
      readers.stateStore.loadSession('s'),
    ])
  }
  await writers.streamManager.endRun('stream', 'run')
  expect(await reading).toEqual(names.map(() => names.join()))
  expect(await textsOf(readers.stateStore, 's')).toEqual(names)
  // Nothing outlives its transaction: no listener and no named statement on the shared connections.
  const left = 'SELECT (SELECT count(*)::int FROM pg_prepared_statements) AS statements'
  expect(await query(url, left)).toEqual([{ statements: 0 }])
  const held = `SELECT count(*)::int AS count FROM pg_stat_activity WHERE query LIKE 'LISTEN%'`
  expect(await query(database.url, held)).toEqual([{ count: 0 }])
})

async function deltasOf(reading: Promise<AsyncIterable<SequencedChunk> | null>): Promise<string> {
  const deltas: string[] = []
  for await (const chunk of (await reading) ?? []) {
    if (chunk.type === 'text_delta') deltas.push(chunk.delta)
  }
  return deltas.join()
}
