// How much one transaction changes, to the last entry and byte: in Node, over its SQLite.
import { noopLogger } from '@helix-agents/core'
import { beforeEach, describe, expect, test } from 'vitest'
import { Database } from '../../src/sql/database.ts'
import type { StoreContext } from '../../src/store-context.ts'
import { subtreeOf } from '../../src/tree/place.ts'
import {
  checkTransferredAtOnce,
  isForkedAtOnce,
  isRemovedAtOnce,
} from '../../src/tree/subtree-work.ts'
import { NodeStorage } from '../node-storage.ts'
import { createProvider, openOptions, session } from '../provider-harness.ts'

const MiB = 1024 * 1024

let storage: NodeStorage
let context: StoreContext
beforeEach(async () => {
  storage = new NodeStorage()
  await createProvider(storage).open({ kind: 'cloudflare-filestore' }, session, openOptions())
  const [row] = storage.sql.exec('SELECT id FROM helix_fs_namespaces').toArray()
  const namespace = { id: Number(row?.id) }
  context = { database: new Database(storage), namespace, logger: noopLogger } as StoreContext
})

/** Files `/d/…`, whose paths have so many bytes: `/d/` and a name of digits. */
function fill(count: number, { pathBytes = 10, size = 0 } = {}): void {
  storage.sql.exec(
    `WITH RECURSIVE numbers(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n < ?2 - 1)
      INSERT INTO helix_fs_nodes (namespace, directory, name, content, size, blocks, flags, mtime, version)
      SELECT ?1, '/d/', substr('${'0'.repeat(3000)}' || n, -?3), 1, ?4, 0, 0, 0, 1 FROM numbers`,
    context.namespace.id,
    count,
    pathBytes - 3,
    size,
  )
}

const isRemoved = (): boolean => isRemovedAtOnce(context, subtreeOf('/d'))

describe('what is removed at once', () => {
  test.each([
    [10_000, true],
    [10_001, false],
  ])('has %i entries: %s', (count, expected) => {
    fill(count)
    expect(isRemoved()).toBe(expected)
  })

  test.each([
    [1000, 2000, true],
    [1000, 2001, false],
    [1001, 2000, false],
    [0, 10, true],
  ])('has %i paths of %i bytes: %s', (count, pathBytes, expected) => {
    fill(count, { pathBytes })
    expect(isRemoved()).toBe(expected)
  })

  test.each([
    [64 * MiB, true],
    [64 * MiB + 1, false],
  ])('has %i bytes of content: %s', (size, expected) => {
    fill(1, { size })
    expect(isRemoved()).toBe(expected)
  })
})

test('what is forked at once has 16,000 entries, and paths of 2 MB', () => {
  fill(16_000)
  expect(isForkedAtOnce(context)).toBe(true)
  fill(1, { pathBytes: 11 })
  expect(isForkedAtOnce(context)).toBe(false)
  storage.sql.exec('DELETE FROM helix_fs_nodes')
  fill(1000, { pathBytes: 2000 })
  expect(isForkedAtOnce(context)).toBe(true)
  fill(1, { pathBytes: 11 })
  expect(isForkedAtOnce(context)).toBe(false)
})

describe('what is copied or moved at once', () => {
  test.each([
    [10_000, 10, '/e'],
    [1000, 1990, '/d2345678901'],
    [1000, 2000, '/'],
  ])('may have %i paths of %i bytes when it goes to %s', (count, pathBytes, to) => {
    fill(count, { pathBytes })
    expect(() => checkTransferredAtOnce(context, '/d', to)).not.toThrow()
  })

  test.each([
    [10_001, 10, '/e'],
    [1000, 1990, '/d23456789012'],
  ])('may not have %i paths of %i bytes when it goes to %s', (count, pathBytes, to) => {
    fill(count, { pathBytes })
    expect(() => checkTransferredAtOnce(context, '/d', to)).toThrow(
      expect.objectContaining({
        code: 'too-large',
        path: '/d',
        message: expect.stringContaining('at most 10000 entries, whose paths have 2000000 bytes'),
      }) as Error,
    )
  })
})
