import type { JournalEntry } from '@helix-agents/core/runtime'
import type { SqlRow, SqlStatements } from '@helix-agents/store-sql'
import { describe, expect, test } from 'vitest'
import { toSqlRow } from '../../../src/sql-row.ts'
import { toSqlText } from '../../../src/sql-text.ts'
import {
  jsonColumn,
  nameColumn,
  numberColumn,
  optionalColumn,
  shapedColumn,
  textColumn,
} from '../../../src/state/columns/column.ts'
import { rangesOfPrefix } from '../../../src/state/columns/id-prefix.ts'
import {
  toEntryJson,
  toJournalEntry,
  toResultJson,
} from '../../../src/state/columns/journal-json.ts'
import { keepText, PIECE_LENGTH, withWholeTexts } from '../../../src/state/columns/long-texts.ts'
import {
  isJson,
  isLabels,
  isLedger,
  isMissing,
  isNames,
  isOutcome,
  isRef,
  isRefs,
  isRunUsage,
  isSnapshotRef,
  isStatus,
  isStoredError,
} from '../../../src/state/columns/stored-shapes.ts'
import { openDatabase } from '../../node-database.ts'

const damaged = (what: string): unknown =>
  expect.objectContaining({ kind: 'corrupt', message: `${what} cannot be read` })

const rowOf = (entry: unknown, result: unknown): SqlRow => ({
  entry: JSON.stringify(entry),
  result: result === null ? null : JSON.stringify(result),
})

describe('a call of the journal', () => {
  const call = { toolCallId: 'c', toolName: 't', arguments: { a: [1] }, startedAt: 5 }
  const message = { role: 'tool', toolCallId: 'c', toolName: 't', content: 'done' } as const

  test.each<JournalEntry>([
    call,
    { ...call, asks: true },
    { ...call, result: { message, endedAt: 7 } },
    { ...call, result: { message, endedAt: 7, finish: { output: { x: null } } } },
    { ...call, result: { message, endedAt: 7, finish: { output: undefined } } },
    {
      ...call,
      result: {
        message: {
          ...message,
          content: [{ type: 'media', data: Uint8Array.of(1, 2), mediaType: 'image/png' }],
        },
        endedAt: 7,
      },
    },
  ])('comes back as it was: %j', (entry) => {
    const row = {
      entry: toEntryJson(entry),
      result: entry.result === undefined ? null : toResultJson(entry.result),
    }
    expect(JSON.parse(row.entry)).not.toHaveProperty('result')
    expect(toJournalEntry(row)).toStrictEqual(entry)
  })
  test('without arguments has the key of them', () => {
    const { arguments: _, ...bare } = call
    expect(toJournalEntry(rowOf(bare, null))).toHaveProperty('arguments', undefined)
  })
  test.each([
    null,
    {},
    { ...call, toolCallId: 1 },
    { ...call, toolName: 1 },
    { ...call, startedAt: '5' },
    { ...call, asks: false },
  ])('is damaged: %j', (entry) => {
    expect(() => toJournalEntry(rowOf(entry, null))).toThrow(damaged('entry'))
  })
  test.each([
    {},
    { message },
    { message, endedAt: '7' },
    { message, endedAt: 7, finish: 'x' },
    { message: { role: 'user', content: 'x' }, endedAt: 7 },
    { message: { role: 'tool' }, endedAt: 7 },
    { endedAt: 7 },
  ])('has a damaged result: %j', (result) => {
    expect(() => toJournalEntry(rowOf(call, result))).toThrow(damaged('result'))
  })
})

const isList = (value: unknown): value is unknown[] => Array.isArray(value)

const isText = (value: unknown): value is string => typeof value === 'string'

describe('a column', () => {
  const row = { n: 1, t: 'x', json: '[1]', nothing: null, broken: '{', name: toSqlText('a\0') }
  test('gives what it holds', () => {
    expect([numberColumn(row, 'n'), textColumn(row, 't'), nameColumn(row, 'name')]).toEqual([
      1,
      'x',
      'a\0',
    ])
    expect(jsonColumn(row, 'json')).toEqual([1])
    expect(optionalColumn(row, 'nothing', textColumn)).toBeUndefined()
    expect(optionalColumn(row, 't', textColumn)).toBe('x')
    expect(shapedColumn(row, 'json', isList)).toEqual([1])
    expect(() => shapedColumn(row, 'json', isText)).toThrow(damaged('json'))
  })
  test('that holds something else is damaged', () => {
    expect(() => numberColumn(row, 't')).toThrow(damaged('t'))
    expect(() => numberColumn(row, 'absent')).toThrow(damaged('absent'))
    expect(() => textColumn(row, 'n')).toThrow(damaged('n'))
    expect(() => textColumn(row, 'nothing')).toThrow(damaged('nothing'))
    for (const name of ['broken', 'n', 'nothing']) {
      expect(() => jsonColumn(row, name)).toThrow(damaged(name))
    }
    expect(() => nameColumn({ name: '"' }, 'name')).toThrow(damaged('name'))
    expect(() => optionalColumn(row, 'absent', textColumn)).toThrow(damaged('absent'))
  })
  test('of a driver has a type that is stored', () => {
    const plain = { n: 1, t: '', nothing: null }
    expect(toSqlRow(plain)).toBe(plain)
    for (const value of [1n, Uint8Array.of(1), undefined, true]) {
      expect(() => toSqlRow({ n: 1, value })).toThrow(
        expect.objectContaining({
          kind: 'corrupt',
          message: 'a column has a type that is never stored',
        }),
      )
    }
  })
})

describe('what is stored as JSON has its shape', () => {
  const usage = { inputTokens: 1, outputTokens: 2, totalTokens: 3, modelCalls: 4, durationMs: 5 }
  const ref = { providerId: 'p', schemaVersion: 1, capabilities: { fs: true }, ref: null }
  const ledger = {
    known: { box: { '/a': { version: 'v', ranges: [[1, 2]] } } },
    writers: { '/a': { actor: 'a', version: 'v' } },
  }
  test.each<[(value: unknown) => boolean, readonly unknown[], readonly unknown[]]>([
    [isStatus, ['idle', 'waiting', 'interrupted', 'aborted'], ['asleep', null, 1]],
    [isJson, [null, 0, ''], [undefined]],
    [isStoredError, [{ code: 'c', message: 'm' }], [{ code: 'c' }, { message: 'm' }, 'x']],
    [
      isOutcome,
      [
        { status: 'failed', error: { code: 'c', message: 'm' } },
        { status: 'completed', output: null },
      ],
      [{ status: 'running' }, { status: 'idle' }, {}, { status: 'failed', error: 'x' }],
    ],
    [
      isLabels,
      [{}, { userId: 'u', tags: ['t'], metadata: { a: null }, parentSessionId: 'p' }],
      [{ userId: 1 }, { tags: 'x' }, { tags: [1] }, { metadata: [] }, { parentSessionId: 1 }, null],
    ],
    [
      isRunUsage,
      [usage, { ...usage, cost: 0.1 }],
      [{ ...usage, cost: 'x' }, {}, { ...usage, modelCalls: null }],
    ],
    [isNames, [[], ['a']], [['a', 1], 'a']],
    [
      isLedger,
      [ledger, { known: {}, writers: {} }],
      [
        { known: [] },
        { ...ledger, writers: { a: {} } },
        { ...ledger, known: { box: { '/a': { version: 1 } } } },
      ],
    ],
    [
      isRef,
      [ref],
      [
        { ...ref, schemaVersion: '1' },
        { ...ref, capabilities: { fs: 1 } },
        { ...ref, providerId: 1 },
      ],
    ],
    [isRefs, [{}, { box: ref }], [{ box: {} }, []]],
    [isSnapshotRef, [{ providerId: 'p', ref: 1 }], [{ providerId: 1 }, 'x']],
    [isMissing, ['failed', 'evicted'], ['', null, 'other']],
  ])('%o', (isShaped, good, bad) => {
    expect(good.map(isShaped)).toEqual(good.map(() => true))
    expect(bad.map(isShaped)).toEqual(bad.map(() => false))
  })
})

describe('the texts of strings that begin with a prefix', () => {
  test.each<[string, readonly (readonly string[])[]]>([
    [
      'ab',
      [
        ['ab', 'ac'],
        ['"ab', '"ac'],
      ],
    ],
    ['', [[''], ['"', '#']]],
    [
      'a\u{10ffff}',
      [
        ['a\u{10ffff}', 'b'],
        ['"a\u{10ffff}', '"b'],
      ],
    ],
    ['\u{10ffff}', [['\u{10ffff}'], ['"\u{10ffff}', '#']]],
    [
      '\ud7ff',
      [
        ['\ud7ff', '\ue000'],
        ['"\ud7ff', '"\ue000'],
      ],
    ],
    ['~a', [['"~a', '"~b']]],
    ['a\0', [['"a\\u0000', '"a\\u0001']]],
  ])('%j', (prefix, ranges) => {
    expect(rangesOfPrefix(prefix)).toEqual(ranges)
  })
})

/** With the table of pieces. */
const open = async (): Promise<SqlStatements> => {
  const database = openDatabase()
  return database.read((sql) => {
    sql.run('CREATE TABLE helix_texts (text_id INTEGER, position INTEGER, piece TEXT)')
    return sql
  })
}

describe('a long text', () => {
  test('is kept in pieces, of which none ends within a character', async () => {
    const sql = await open()
    const most = 'x'.repeat(PIECE_LENGTH)
    expect([keepText(sql, most), keepText(sql, null)]).toEqual([most, null])
    const texts = [`${most}y`, `${most.slice(1)}\u{1f600}${most}`, `${most.slice(1)}\ud83d`]
    const kept = texts.map((text) => keepText(sql, text))
    expect(kept).toEqual([`~1:${PIECE_LENGTH + 1}`, `~2:${2 * PIECE_LENGTH + 1}`, texts[2]])
    const pieces = sql.all('SELECT length(piece) AS n FROM helix_texts ORDER BY text_id, position')
    expect(pieces.map(({ n }) => n)).toEqual([
      PIECE_LENGTH,
      1,
      PIECE_LENGTH - 1,
      PIECE_LENGTH - 1,
      2,
    ])
    const whole = withWholeTexts(sql)
    const [first = '', second = ''] = kept
    const values = [first, second, 'plain', 1] as const
    const row = whole.get('SELECT ? AS a, ? AS b, ? AS c, ? AS d', ...values)
    expect(row).toEqual({ a: texts[0], b: texts[1], c: 'plain', d: 1 })
    expect(whole.all('SELECT ? AS a', first)).toEqual([{ a: texts[0] }])
    expect(whole.get('SELECT 1 WHERE 0')).toBeUndefined()
    whole.run('DELETE FROM helix_texts WHERE position = 1')
    expect(() => whole.get('SELECT ? AS a', first)).toThrow(damaged('a'))
  })
  test('is one text on a server', () => {
    const server = { server: {} } as unknown as SqlStatements
    const long = 'x'.repeat(PIECE_LENGTH + 1)
    expect([keepText(server, long), withWholeTexts(server)]).toEqual([long, server])
  })
})
