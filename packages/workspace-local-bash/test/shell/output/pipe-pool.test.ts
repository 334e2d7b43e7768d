import {
  fstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { closePipe, PipePool } from '../../../src/shell/output/pipe-pool.ts'

// A command without isolation sees the names of the pipes that the next commands will get.
let place: string
beforeEach(() => {
  place = mkdtempSync(join(tmpdir(), 'helix-pipes-'))
})
afterEach(() => rmSync(place, { recursive: true, force: true }))

test.each(['a link to a file', 'a file'])(
  '%s in the place of a pipe is never used',
  async (what) => {
    const scratch = join(place, 'scratch')
    const outside = join(place, 'outside')
    writeFileSync(outside, 'untouched')
    const pool = new PipePool()
    closePipe(await pool.take(scratch))
    for (const name of readdirSync(join(scratch, 'pipes'))) {
      const path = join(scratch, 'pipes', name)
      rmSync(path)
      if (what === 'a file') writeFileSync(path, '')
      else symlinkSync(outside, path)
    }
    const pipe = await pool.take(scratch)
    expect([fstatSync(pipe.readFd).isFIFO(), fstatSync(pipe.writeFd).isFIFO()]).toEqual([
      true,
      true,
    ])
    expect(fstatSync(pipe.readFd).ino).toBe(fstatSync(pipe.writeFd).ino)
    writeSync(pipe.writeFd, 'output of the next command')
    closePipe(pipe)
    expect(readFileSync(outside, 'utf8')).toBe('untouched')
  },
)

test('pipes are made once for many takers, each with a path of its own that is gone', async () => {
  const pool = new PipePool()
  const scratches = ['one', 'two'].map((name) => join(place, name))
  const [one = '', two = ''] = scratches
  const taken = await Promise.all([one, two, one].map((scratch) => pool.take(scratch)))
  expect(taken.map(({ path }) => path.startsWith(join(place, 'one', 'pipes', '')))).toEqual([
    true,
    false,
    true,
  ])
  expect(new Set(taken.map(({ path }) => path)).size).toBe(3)
  // The first batch has 32.
  expect(readdirSync(join(one, 'pipes'))).toHaveLength(29)
  expect(readdirSync(join(two, 'pipes'))).toEqual([])
  for (const pipe of taken) closePipe(pipe)
  rmSync(one, { recursive: true })
  closePipe(await pool.take(two))
  expect(readdirSync(join(two, 'pipes'))).toHaveLength(255)
})

test('pipes that cannot be made are an error, and the next taker tries again', async () => {
  const pool = new PipePool()
  const scratch = join(place, 'scratch')
  writeFileSync(scratch, 'in the way')
  await expect(pool.take(scratch)).rejects.toMatchObject({
    code: 'provider-failed',
    message: 'no pipe could be made for a command',
    cause: expect.any(Error),
  })
  rmSync(scratch)
  mkdirSync(scratch)
  closePipe(await pool.take(scratch))
})
