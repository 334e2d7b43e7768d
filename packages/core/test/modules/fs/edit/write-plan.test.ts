// How a plan over several files is carried out, one call after the other, and undone when one fails.
import { describe, expect, test } from 'vitest'
import { writePlan } from '../../../../src/modules/fs/edit/write-plan.ts'
import type { PlannedFile } from '../../../../src/modules/fs/patch/plan-patch.ts'
import { setup, type World } from './slow-files.ts'

const step = (action: PlannedFile['action'], path: string, more: Partial<PlannedFile> = {}) => ({
  action,
  path,
  diff: `diff of ${path}`,
  notes: [],
  ...more,
})
const beforeOf = ({ fs, versionOf }: World, path: string) => ({
  before: { version: versionOf(path), data: fs.text(path) },
})

const FILES = { '/a': 'a', '/b': 'b', '/c': 'c', '/d': 'd' }

/** One step of each kind. */
function planOf(world: World): readonly PlannedFile[] {
  return [
    step('created', '/new', { content: 'new' }),
    step('changed', '/a', { content: 'A', ...beforeOf(world, '/a') }),
    step('removed', '/b', beforeOf(world, '/b')),
    step('moved', '/m', { from: '/c', content: 'M', ...beforeOf(world, '/c') }),
    step('copied', '/k', { from: '/d', ...beforeOf(world, '/d'), notes: ['so'] }),
  ]
}

const CALLS = [
  'stat /d',
  'copy /d /k',
  'stat /k',
  'writeFile /new',
  'writeFile /a',
  'stat /b',
  'rm /b',
  'stat /c',
  'move /c /m',
  'stat /m',
  'writeFile /m',
]

describe('a plan', () => {
  test('is carried out call by call, copies first, and told in its order', async () => {
    const world = await setup(FILES)
    const plan = planOf(world)
    for (const path of Object.keys(FILES)) world.read(path)
    const written = await writePlan(world.change, plan)
    expect(world.asked).toEqual(CALLS)
    expect(world.all()).toEqual({ '/a': 'A', '/d': 'd', '/k': 'd', '/m': 'M', '/new': 'new' })
    const told = (path: string, more: object = {}) => ({
      path,
      diff: `diff of ${path}`,
      notes: [],
      version: world.versionOf(path),
      ...more,
    })
    const { version: _version, ...removed } = told('/b', { action: 'removed' })
    expect(written).toStrictEqual([
      told('/new', { action: 'created' }),
      told('/a', { action: 'changed' }),
      removed,
      told('/m', { action: 'moved', from: '/c' }),
      told('/k', { action: 'copied', from: '/d', notes: ['so'] }),
    ])
    const { ledger, versionOf } = world
    for (const path of ['/new', '/a', '/m', '/k', '/d']) {
      expect([path, ledger.knows('me', path)]).toEqual([path, true])
      expect([path, ledger.check('me', path, versionOf(path))]).toEqual([path, undefined])
    }
    for (const path of ['/b', '/c']) expect(ledger.hasSeen('me', path)).toBe(false)
    expect(ledger.check('me', '/a', 'other')).toEqual({})
  })

  test.each(CALLS)('that fails at %s is undone', async (failing) => {
    const world = await setup(FILES)
    const plan = planOf(world)
    for (const path of Object.keys(FILES)) world.read(path)
    const error = new Error('the disk')
    world.fails.set(failing, error)
    await expect(writePlan(world.change, plan)).rejects.toBe(error)
    expect(world.all()).toEqual(FILES)
    expect(world.asked.filter((name) => name.endsWith('too early'))).toEqual([])
    // The agent still knows all of it, at the versions that it has now.
    for (const path of Object.keys(FILES)) {
      expect([path, world.ledger.check('me', path, world.versionOf(path))]).toEqual([
        path,
        undefined,
      ])
    }
  })

  test('undoes the last first, and names what it could not', async () => {
    const world = await setup(FILES)
    const plan = planOf(world)
    const error = new Error('the disk')
    world.fails.set('writeFile /m', error)
    world.fails.set('rm /new', new Error('busy'))
    world.fails.set('rm /k', new Error('busy'))
    await expect(writePlan(world.change, plan)).rejects.toMatchObject({
      code: 'patch-failed',
      message: expect.stringContaining('a write failed, and these stay changed: "/new", "/k"'),
      hint: 'Read these files before you go on.',
      cause: error,
    })
    expect(world.all()).toEqual({ ...FILES, '/k': 'd', '/new': 'new' })
    expect(world.asked.slice(CALLS.length)).toEqual([
      'stat /m',
      'move /m /c',
      'stat /c',
      'writeFile /b',
      'stat /a',
      'writeFile /a',
      'stat /new',
      'rm /new',
      'stat /k',
      'rm /k',
    ])
  })

  test('does not undo what another has changed since', async () => {
    const world = await setup({ '/a': 'a', '/b': 'b' })
    const plan = [
      step('changed', '/a', { content: 'A', ...beforeOf(world, '/a') }),
      step('changed', '/b', { content: 'B', ...beforeOf(world, '/b') }),
    ]
    const write = world.fs.writeFile.bind(world.fs)
    world.fs.writeFile = async (...given) => {
      if (given[0] !== '/b') return write(...given)
      await write('/a', 'mine')
      throw new Error('the disk')
    }
    await expect(writePlan(world.change, plan)).rejects.toMatchObject({
      message: expect.stringContaining('these stay changed: "/a"'),
    })
    expect(world.all()).toEqual({ '/a': 'mine', '/b': 'b' })
  })

  test.each<readonly [string, (world: World) => PlannedFile]>([
    ['removed', (world) => step('removed', '/a', beforeOf(world, '/a'))],
    ['moved', (world) => step('moved', '/n', { from: '/a', ...beforeOf(world, '/a') })],
    ['copied', (world) => step('copied', '/n', { from: '/a', ...beforeOf(world, '/a') })],
    ['changed', (world) => step('changed', '/a', { content: 'A', ...beforeOf(world, '/a') })],
  ])('does not touch a file that has another version when it is to be %s', async (_, make) => {
    const world = await setup({ '/a': 'a' })
    const file = make(world)
    await world.fs.writeFile('/a', 'mine')
    await expect(writePlan(world.change, [file])).rejects.toMatchObject({ code: 'stale-write' })
    expect(world.all()).toEqual({ '/a': 'mine' })
  })

  test('does not write over a file that is there by now', async () => {
    const world = await setup({})
    const file = step('created', '/a', { content: 'A' })
    await world.fs.writeFile('/a', 'mine')
    await expect(writePlan(world.change, [file])).rejects.toMatchObject({ code: 'already-exists' })
    expect(world.all()).toEqual({ '/a': 'mine' })
  })
})
