// A file that is changed: as it was seen, again when another was faster, and not when it is stale.
import { describe, expect, test } from 'vitest'
import { FileSystemError } from '../../../../src/errors/file-system-error.ts'
import {
  requireRead,
  rewriteFile,
  statIfPresent,
  statUnlessStale,
} from '../../../../src/modules/fs/edit/rewrite-file.ts'
import { rejectStaleTarget } from '../../../../src/modules/fs/edit/transfer.ts'
import { setup } from './slow-files.ts'

const made = (data: string) => ({ data, known: 'whole' as const })

describe('a file that is changed', () => {
  test('is written as it was seen, and known after that', async () => {
    const world = await setup({ '/a': 'a' })
    const seen: unknown[] = []
    const before = await world.fs.stat('/a')
    const result = await rewriteFile(world.change, '/a', async (stat) => {
      seen.push(stat)
      return made('A')
    })
    expect(seen).toEqual([before])
    expect(result).toEqual({ made: made('A'), before, stat: await world.fs.stat('/a') })
    expect(world.asked).toEqual(['stat /a', 'writeFile /a'])
    expect(world.ledger.knows('me', '/a')).toBe(true)
    expect(world.ledger.check('me', '/a', world.versionOf('/a'))).toBeUndefined()
    const created = await rewriteFile(world.change, '/n', async (stat) => made(`${stat?.size}`))
    expect([created.before, world.fs.text('/n')]).toEqual([undefined, 'undefined'])
  })

  test('gets another turn when somebody else was faster, eight times in all', async () => {
    const world = await setup({ '/a': 'a' })
    const write = world.fs.writeFile.bind(world.fs)
    let left = 7
    world.fs.writeFile = async (...given) => {
      if (left > 0) await write('/a', `other ${(left -= 1)}`)
      return write(...given)
    }
    const seen: (number | undefined)[] = []
    const make = async (stat?: { readonly size: number }) => {
      seen.push(stat?.size)
      return made('A')
    }
    await rewriteFile(world.change, '/a', make)
    expect([seen.length, world.fs.text('/a')]).toEqual([8, 'A'])
    left = 8
    await expect(rewriteFile(world.change, '/a', make)).rejects.toMatchObject({
      code: 'stale-write',
    })
    expect(seen).toHaveLength(16)
  })

  test.each(['stale-write', 'already-exists', 'storage-full'] as const)(
    'and refused as %s',
    async (code) => {
      const world = await setup({ '/a': 'a' })
      world.fails.set('writeFile /a', new FileSystemError(code, '/a'))
      let turns = 0
      const rewriting = rewriteFile(world.change, '/a', async () => {
        turns += 1
        return made('A')
      })
      await expect(rewriting).rejects.toMatchObject({ code })
      expect(turns).toBe(code === 'storage-full' ? 1 : 8)
    },
  )

  test('is refused when it is not what this agent last saw, unless it becomes that meanwhile', async () => {
    const world = await setup({ '/a': 'a' })
    const { ledger, change, fs } = world
    expect(await statUnlessStale(change, '/a')).toMatchObject({ path: '/a' })
    expect(await statUnlessStale(change, '/none')).toBeUndefined()
    world.read('/a')
    await fs.writeFile('/a', 'mine')
    const stale = {
      code: 'stale-write',
      message: expect.stringContaining(
        'changed by a command or another process at 1970-01-01T00:00:00.000Z, now 4 bytes',
      ),
      hint: 'Read the file again with read_file, then repeat the change on what it holds now.',
    }
    await expect(statUnlessStale(change, '/a')).rejects.toMatchObject(stale)
    ledger.recordWrite('other', '/a', world.versionOf('/a'))
    await expect(statUnlessStale(change, '/a')).rejects.toMatchObject({
      message: expect.stringContaining('changed by agent other at'),
    })
    // A change of its own that is recorded after the first look.
    const looked = statUnlessStale(change, '/a')
    ledger.recordWrite('me', '/a', world.versionOf('/a'))
    await expect(looked).resolves.toMatchObject({ size: 4 })
    await expect(statUnlessStale(change, '/')).rejects.toMatchObject({ code: 'is-directory' })
  })

  test('only what is missing is none', async () => {
    const world = await setup({ '/a': 'a' })
    expect(await statIfPresent(world.change.module, '/none')).toBeUndefined()
    const error = new FileSystemError('permission-denied', '/a')
    world.fails.set('stat /a', error)
    await expect(statIfPresent(world.change.module, '/a')).rejects.toBe(error)
  })

  test('has to be read before, where that is wanted', async () => {
    const free = await setup({ '/a': 'a' })
    expect(() => requireRead(free.change, '/a')).not.toThrow()
    const world = await setup({ '/a': 'a' }, { requireReadBeforeWrite: true })
    const hint = 'Read the file with read_file first, then repeat the call.'
    const refused = (what: string) =>
      expect.objectContaining({
        code: 'stale-write',
        message: expect.stringContaining(`${what} must be read before a change`),
        hint,
      })
    expect(() => requireRead(world.change, '/a')).toThrow(refused('it'))
    expect(() => requireRead(world.change, '/a', [2, 3])).toThrow(refused('lines 2-3'))
    world.ledger.recordRead('me', '/a', world.versionOf('/a'), { first: 2, last: 3, total: 9 })
    expect(() => requireRead(world.change, '/a', [2, 3])).not.toThrow()
    expect(() => requireRead(world.change, '/a', [2, 4])).toThrow(refused('lines 2-4'))
    expect(() => requireRead(world.change, '/a')).toThrow(refused('it'))
    world.read('/a')
    expect(() => requireRead(world.change, '/a')).not.toThrow()
  })

  test('and that another would replace has to be what this agent last saw', async () => {
    const world = await setup({ '/d/a': 'a', '/b': 'b' }, { requireReadBeforeWrite: true })
    await rejectStaleTarget(world.change, '/none')
    await rejectStaleTarget(world.change, '/d')
    await expect(rejectStaleTarget(world.change, '/b')).rejects.toMatchObject({
      message: expect.stringContaining('it must be read before a change'),
    })
    world.read('/b')
    await rejectStaleTarget(world.change, '/b')
    await world.fs.writeFile('/b', 'mine')
    world.ledger.recordWrite('other', '/b', world.versionOf('/b'))
    await expect(rejectStaleTarget(world.change, '/b')).rejects.toMatchObject({
      message: expect.stringContaining('changed by agent other'),
    })
  })
})
