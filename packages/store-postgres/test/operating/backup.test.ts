// Backups as the page on many machines advises them, made and restored by the tools of PostgreSQL.
import { execFileSync } from 'node:child_process'
import { chownSync, globSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startTestPostgres, type TestPostgres } from '@helix-agents/postgres-testbed'
import { expect, onTestFinished, test } from 'vitest'
import { opened, query } from '../opened.ts'
import { begun, NOW, step, textsOf } from '../script.ts'
import { blocksOf, settingsOf } from './advice.ts'

/** Of Debian, the newest first; a server comes with them. */
const [tools] = globSync('/usr/lib/postgresql/*/bin/pg_basebackup')
  .map((path) => join(path, '..'))
  .toSorted()
  .toReversed()
const note = tools === undefined ? ' (left out: no PostgreSQL in /usr/lib/postgresql)' : ''
const ARCHIVED = `SELECT coalesce(last_archived_wal >= $1, false) AS done FROM pg_stat_archiver`
const LONG = 180_000

test.skipIf(tools === undefined)(`a dump, and its restore${note}`, { timeout: LONG }, async () => {
  const { server, place } = await startServer()
  const [source, target] = [await server.createDatabase(), await server.createDatabase()]
  const before = await opened(source.url)
  const write = await begun(before.stateStore, 's')
  await before.stateStore.commitStep(step(write, '1'))
  const [dump = ''] = blocksOf('Backup', 'sh')
  run(dump, { place, urls: { DATABASE_URL: source.url, RESTORED_URL: target.url } })
  await before.stateStore.commitStep(step(write, '2'))
  const after = await opened(target.url)
  expect(await textsOf(after.stateStore, 's')).toEqual(['1'])
  await after.stateStore.commitStep(step(write, 'other'))
  await begun(after.stateStore, 'new')
  expect(await textsOf(after.stateStore, 's')).toEqual(['1', 'other'])
})

test.skipIf(tools === undefined)(
  `a base backup, restored to a moment after it${note}`,
  { timeout: LONG },
  async () => {
    const { server, place } = await startServer()
    const { url } = await server.createDatabase()
    const stores = await opened(url)
    const write = await begun(stores.stateStore, 's', 1)
    await stores.stateStore.commitStep(step(write, 'in the base backup'))
    const [, base = ''] = blocksOf('Backup', 'sh')
    run(base, { place, urls: { DATABASE_URL: url } })
    await stores.stateStore.commitStep(step(write, 'archived'))
    const [row] = await query(url, 'SELECT clock_timestamp()::text AS moment')
    await stores.stateStore.commitStep(step(write, 'too late'))
    await stores.close()
    await untilArchived(url)

    const restored = await startRestored(place, String(row?.['moment']))
    const there = await opened(
      url.replace(encodeURIComponent(server.directory), encodeURIComponent(restored.directory)),
    )
    expect(await textsOf(there.stateStore, 's')).toEqual(['in the base backup', 'archived'])
    // The lease of its run has ended: another machine goes on.
    await there.stateStore.beginRun({ sessionId: 's', runId: 'next', leaseMs: 60_000, now: NOW })
    await there.stateStore.commitStep(step({ ...write, runId: 'next' }, 'again'))
    expect(await textsOf(there.stateStore, 's')).toContain('again')
  },
)

/** A server that archives as the page says, and the folder that the page calls `/backup`. */
async function startServer(): Promise<{ readonly server: TestPostgres; readonly place: string }> {
  const place = mkdtempSync(join(tmpdir(), 'helix-backup-'))
  onTestFinished(() => rmSync(place, { recursive: true, force: true }))
  const [archive = ''] = blocksOf('Backup', 'ini')
  const server = await start(settingsOf(archive.replaceAll('/backup', place)))
  mkdirSync(join(place, 'wal'))
  giveTo(server, place)
  return { server, place }
}

async function start(settings: Readonly<Record<string, string>>): Promise<TestPostgres> {
  const binaries = tools === undefined ? {} : { binaries: tools }
  const server = await startTestPostgres({ settings, ...binaries })
  onTestFinished(() => server.remove())
  return server
}

/** A server whose data are the base backup. */
async function startRestored(place: string, moment: string): Promise<TestPostgres> {
  const [, recovery = ''] = blocksOf('Backup', 'ini')
  const settings = settingsOf(recovery.replaceAll('/backup', place))
  const server = await start({ ...settings, recovery_target_time: moment })
  await server.stop()
  const data = join(server.directory, 'data')
  rmSync(data, { recursive: true })
  // With its modes: the server rejects data that others may read.
  execFileSync('cp', ['-Rp', join(place, 'base'), data])
  writeFileSync(join(data, 'recovery.signal'), '')
  giveTo(server, data)
  await server.start()
  return server
}

interface Shell {
  readonly place: string
  readonly urls: Readonly<Record<string, string>>
}

function run(commands: string, { place, urls }: Shell): void {
  const env = { PATH: `${tools}:/usr/bin:/bin`, ...urls }
  execFileSync('/bin/sh', ['-ec', commands.replaceAll('/backup', place)], { env, stdio: 'pipe' })
}

/** A server of root runs as another user. */
function giveTo(server: TestPostgres, folder: string): void {
  const { uid, gid } = statSync(server.directory)
  const parts = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  for (const part of ['', ...parts]) chownSync(join(folder, part), uid, gid)
}

async function untilArchived(url: string): Promise<void> {
  const [row] = await query(url, 'SELECT pg_walfile_name(pg_current_wal_lsn()) AS name')
  await query(url, 'SELECT pg_switch_wal()')
  const isDone = async () => (await query(url, ARCHIVED, [row?.['name']]))[0]?.['done']
  await expect.poll(isDone).toBe(true)
}
