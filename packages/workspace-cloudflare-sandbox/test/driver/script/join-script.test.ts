// The script, run by the bash of this machine.
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { joinScript, LOST } from '../../../src/driver/script/join-script.ts'

const here = process.platform === 'linux'
const note = here ? '' : ' (skipped: needs the bash and coreutils of Linux)'

describe.skipIf(!here)(`joining files${note}`, () => {
  let directory: string
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'helix-join-'))
  })
  afterEach(() => rmSync(directory, { recursive: true, force: true }))

  const at = (name: string): string => join(directory, name)
  const put = (name: string, text: string): void => writeFileSync(at(name), text)
  const whole = (): string => readFileSync(at("it's"), 'utf8')

  function run(fromBytes = 3, addedBytes = 2): Promise<number | null> {
    const script = joinScript({ path: at("it's"), part: at('part'), fromBytes, addedBytes })
    const child = spawn('bash', ['-c', script], { stdio: 'ignore' })
    return new Promise((resolve) => child.once('close', resolve))
  }

  it('adds the part and removes it, also when it has been done', async () => {
    put("it's", 'abc')
    put('part', 'de')
    expect([await run(), await run(), whole(), existsSync(at('part'))]).toEqual([
      0,
      0,
      'abcde',
      false,
    ])
  })

  it('takes back what an attempt that was cut off has added', async () => {
    put("it's", 'abcd')
    put('part', 'de')
    expect([await run(), whole()]).toEqual([0, 'abcde'])
  })

  it('adds it once when it is asked for many times at the same moment', async () => {
    put("it's", 'abc')
    put('part', 'x'.repeat(1_000_000))
    const codes = await Promise.all(Array.from({ length: 4 }, () => run(3, 1_000_000)))
    expect([codes, whole().length]).toEqual([[0, 0, 0, 0], 1_000_003])
  }, 120_000)

  it('does nothing when what came before is gone, or the part is not whole', async () => {
    put('part', 'de')
    expect(await run()).toBe(LOST)
    put("it's", 'ab')
    expect([await run(), whole()]).toEqual([LOST, 'ab'])
    put("it's", 'abc')
    put('part', 'd')
    expect([await run(), whole()]).toEqual([LOST, 'abc'])
    rmSync(at('part'))
    expect([await run(), whole()]).toEqual([LOST, 'abc'])
  })
})
