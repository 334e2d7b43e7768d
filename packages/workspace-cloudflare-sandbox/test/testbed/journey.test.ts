// Moves and a history with the real SDK in workerd, and the container server behind it.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { CarriedOver } from '../worker/carry-over.ts'
import type { Journey } from '../worker/journey.ts'
import { availability, Bench, skipNote } from './bench.ts'

describe.skipIf(!availability.available)(`a session travels${skipNote}`, () => {
  let bench: Bench
  beforeAll(async () => {
    bench = await Bench.start()
  })
  afterAll(async () => {
    await bench[Symbol.asyncDispose]()
  })

  test.each(['portable', 'backups'])(
    'into a sandbox, back a step with its files, and out again: %s',
    { timeout: 300_000 },
    async (way) => {
      const { value, error } = await bench.ask(`journey-${way}`, {
        program: 'journey',
        arguments: { way },
      })
      expect(error).toBeUndefined()
      const journey = value as Journey
      expect(journey.moved).toContain('one')
      expect(journey.wentBack).toContain('two')
      expect(journey.movedOut).toContain('two')
      expect(journey.changes).toEqual(['/d/a'])
      const [first, second] = journey.sandboxes
      expect(first).toMatch(/^hx-/)
      expect(second).not.toBe(first)
      const bucket = await bench.testbed.miniflare.getR2Bucket('BACKUP_BUCKET')
      expect((await bucket.list()).objects.map(({ key }) => key)).toEqual([])
    },
  )

  test('as a portable snapshot, with links and permissions, in few calls', async () => {
    const { value, error } = await bench.ask('carry-over', { program: 'carry-over', arguments: {} })
    expect(error).toBeUndefined()
    const { taken, takenAgain, restored, told, detail } = value as CarriedOver
    expect(told.split('\n')).toEqual([
      'ran',
      '755 run.sh',
      '700 d/e',
      '600 d/1',
      'changed',
      '62',
      '600000',
      '',
    ])
    expect(detail).toBeUndefined()
    // Three directories, three links, and the large file by itself.
    const lists = ['list', 'list', 'list']
    const links = ['readLink', 'readLink', 'realPath']
    const together = ['readMany', 'statMany', 'statMany']
    expect(takenAgain).toEqual([...lists, ...links, ...together].toSorted())
    expect(taken).toEqual([...takenAgain, 'read', 'stat'].toSorted())
    expect(restored).toEqual(['list', 'makeDirectory', 'makeDirectory', 'makeLink', 'writeModes'])
  })
})
