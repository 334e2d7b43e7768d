import {
  fstatSync,
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
import { closePipe, PipePool } from '../../src/shell/output/pipe-pool.ts'

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
