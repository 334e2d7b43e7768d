// What the database answers, over the SQLite of Node and a port that fails.
import { FileSystemError, WorkspaceFailedError } from '@helix-agents/core'
import type { FileStoreStorage } from '@helix-agents/workspace-cloudflare-filestore'
import { describe, expect, test } from 'vitest'
import { bytesOf, numberOf, optionalNumberOf, textOf } from '../../src/sql/columns.ts'
import { Database } from '../../src/sql/database.ts'
import { migrate } from '../../src/sql/migrate.ts'
import { NodeStorage } from '../node-storage.ts'

describe('a stored row', () => {
  const row = { n: 0, t: '', b: new ArrayBuffer(2), nothing: null }
  test('gives what its columns hold', () => {
    expect([numberOf(row, 'n'), textOf(row, 't'), bytesOf(row, 'b')]).toEqual([
      0,
      '',
      new Uint8Array(2),
    ])
    expect([optionalNumberOf(row, 'n'), optionalNumberOf(row, 'nothing')]).toEqual([0, undefined])
    expect(optionalNumberOf(row, 'absent')).toBeUndefined()
  })
  test('that holds something else is damaged', () => {
    for (const read of [numberOf, textOf, bytesOf]) {
      for (const column of ['nothing', 'absent']) {
        expect(() => read(row, column)).toThrow(
          expect.objectContaining({
            code: 'provider-failed',
            message: `a stored row of the file store is damaged: ${column}`,
          }),
        )
      }
    }
    expect(() => optionalNumberOf(row, 't')).toThrow('damaged: t')
  })
})

const failing = (reason: string): Database => {
  const exec = (): never => {
    throw new Error(reason)
  }
  const storage: FileStoreStorage = { sql: { exec }, transactionSync: (work) => work() }
  return new Database(storage)
}

describe('an error of the database', () => {
  test.each([
    ['no such table: helix_fs_nodes', { code: 'lost', admitted: 'no' }],
    ['no such table: other', { code: 'provider-failed', transient: true }],
    ['SQL is not enabled for this object', { code: 'config-invalid', transient: false }],
    ['database or disk is full: SQLITE_FULL', { code: 'storage-full' }],
    ['Disk is full', { code: 'storage-full' }],
    ['database is locked', { code: 'provider-failed', transient: true }],
  ])('%s', (reason, expected) => {
    const database = failing(reason)
    const wanted = expect.objectContaining({ ...expected, cause: new Error(reason) })
    expect(() => database.all('x')).toThrow(wanted)
    expect(() => database.get('x')).toThrow(wanted)
    expect(() => database.run('x')).toThrow(wanted)
    expect(() => database.runOnView('x')).toThrow(wanted)
    expect(() => database.transaction(() => database.run('x'))).toThrow(wanted)
    const thrown = (): never => {
      throw new Error(reason)
    }
    expect(() => database.transaction(thrown)).toThrow(wanted)
    expect(() => database.transactionAt(thrown, () => {})).toThrow(wanted)
  })
  test('is no error of a view that others have changed', () => {
    expect(failing('helix_fs_outdated: SQLITE_CONSTRAINT').runOnView('x')).toBe('outdated')
    const taken = 'UNIQUE constraint failed: helix_fs_nodes.namespace'
    expect(failing(taken).runOnView('x')).toBe('taken')
    expect(() => failing('UNIQUE constraint failed: other.x').runOnView('x')).toThrow(
      WorkspaceFailedError,
    )
  })
  test('of ours passes as it is, and ends the transaction', () => {
    const storage = new NodeStorage()
    const database = new Database(storage)
    database.run('CREATE TABLE t (n)')
    const error = new FileSystemError('not-found', '/a')
    for (const attempt of [
      (work: () => never) => database.transaction(work),
      (work: () => never) => database.transactionAt(work, () => {}),
    ]) {
      expect(() =>
        attempt(() => {
          database.run('INSERT INTO t VALUES (1)')
          throw error
        }),
      ).toThrow(error)
      expect(database.all('SELECT n FROM t')).toEqual([])
    }
    let learnt = 0
    expect(
      database.transactionAt(
        () => database.transaction(() => 7),
        (result) => void (learnt = result),
      ),
    ).toBe(7)
    expect(learnt).toBe(7)
    expect(database.get('SELECT n FROM t')).toBeUndefined()
  })
  test('is that a later release has written the tables', () => {
    const database = new Database(new NodeStorage())
    migrate(database, 5)
    migrate(database, 6)
    expect(database.all('SELECT * FROM helix_fs_schema')).toEqual([{ version: 1, applied_ms: 5 }])
    database.run('INSERT INTO helix_fs_schema VALUES (2, 7)')
    expect(() => migrate(database, 8)).toThrow(
      expect.objectContaining({
        code: 'provider-failed',
        message: 'the file store has schema version 2; this release knows 1',
        hint: 'An operator must run the release that wrote it, or a later one.',
      }),
    )
  })
})
