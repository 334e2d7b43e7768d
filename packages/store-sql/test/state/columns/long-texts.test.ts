import { migrate } from '@helix-agents/store-sql'
import { expect, test } from 'vitest'
import { keepText, PIECE_LENGTH, withWholeTexts } from '../../../src/state/columns/long-texts.ts'
import { openDatabase } from '../../node-database.ts'

const filled = (length: number): string => 'x'.repeat(length)
/** The first and the last character of two units, and those beside the ranges of both units. */
const PAIRS = ['\u{10000}', '\u{1f600}', '\u{10ffff}']
const SINGLES = ['\ud7ff', '\ue000', '\uffff', 'é']

/** A text, and how long its pieces are. */
const TEXTS: readonly (readonly [string, readonly number[]])[] = [
  [filled(PIECE_LENGTH + 1), [PIECE_LENGTH, 1]],
  [filled(2 * PIECE_LENGTH), [PIECE_LENGTH, PIECE_LENGTH]],
  [filled(2 * PIECE_LENGTH + 1), [PIECE_LENGTH, PIECE_LENGTH, 1]],
  ...PAIRS.flatMap((pair) => [
    [`${filled(PIECE_LENGTH - 1)}${pair}x`, [PIECE_LENGTH - 1, 3]] as const,
    [`${filled(PIECE_LENGTH - 1)}${pair}`, [PIECE_LENGTH - 1, 2]] as const,
    [`${filled(PIECE_LENGTH - 2)}${pair}x`, [PIECE_LENGTH, 1]] as const,
  ]),
  ...SINGLES.map((one) => [`${filled(PIECE_LENGTH - 1)}${one}x`, [PIECE_LENGTH, 1]] as const),
]

test('pieces are as long as they may be, and none ends within a character', async () => {
  const database = openDatabase()
  await migrate(database, { now: 1 })
  await database.write((sql) => {
    const whole = withWholeTexts(sql)
    for (const [index, [text, lengths]] of TEXTS.entries()) {
      const mark = keepText(sql, text)
      const id = index + 1
      expect(mark).toBe(`~${id}:${text.length}`)
      const pieces = sql.all(
        'SELECT piece FROM helix_texts WHERE text_id = ? ORDER BY position',
        id,
      )
      expect([id, pieces.map(({ piece }) => String(piece).length)]).toEqual([id, lengths])
      expect(whole.get('SELECT ? AS text', mark)?.['text'] === text).toBe(true)
    }
    expect(keepText(sql, filled(PIECE_LENGTH)).length).toBe(PIECE_LENGTH)
  })
})

test('a text that is not as long as it was is damaged, in whichever column it is', async () => {
  const database = openDatabase()
  await migrate(database, { now: 1 })
  await database.write((sql) => {
    const whole = withWholeTexts(sql)
    const mark = keepText(sql, filled(PIECE_LENGTH + 1))
    for (const bad of ['~1:5', '~9:0x', '~9:5', '~']) {
      expect(() => whole.get('SELECT ? AS a, ? AS b', 'plain', bad)).toThrow(
        expect.objectContaining({ kind: 'corrupt', message: 'b cannot be read' }),
      )
      expect(() => whole.all('SELECT ? AS b', bad)).toThrow('b cannot be read')
    }
    const row = whole.get('SELECT ? AS a, ? AS b, NULL AS c, 5 AS d', mark, mark)
    expect([String(row?.['a']).length, row?.['a'] === row?.['b'], row?.['c'], row?.['d']]).toEqual([
      PIECE_LENGTH + 1,
      true,
      null,
      5,
    ])
  })
})
