// The script, run by the bash of this machine.
import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { filePrelude, TEMPORARY_PREFIX } from '../../../src/driver/script/file-prelude.ts'
import { parseReply } from '../../../src/driver/script/reply.ts'
import { removeScript } from '../../../src/driver/script/tree-scripts.ts'

const run = promisify(execFile)
const here = process.platform === 'linux'
const note = here ? '' : ' (skipped: needs the bash and coreutils of Linux)'

describe.skipIf(!here)(`removing an empty directory${note}`, () => {
  let root: string
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'helix-remove-'))
    mkdirSync(join(root, 'd'))
  })
  afterEach(() => rmSync(root, { recursive: true, force: true }))

  function put(name: string, isOld: boolean): void {
    const path = join(root, 'd', name)
    writeFileSync(path, 'x')
    if (isOld) utimesSync(path, 0, 0)
  }

  async function remove(): Promise<readonly [answer: string, isThere: boolean]> {
    const path = join(root, 'd')
    const prelude = filePrelude({ root, scratch: join(root, 'scratch') }, 'aa', '')
    const { stdout } = await run('bash', ['-c', prelude + removeScript(path, false)])
    const { fields, status } = parseReply(stdout, 'aa')
    return [[status, ...fields].join(' '), existsSync(path)]
  }

  it('takes what a write that was cut off has left', async () => {
    put(`${TEMPORARY_PREFIX}aa.tmp`, true)
    expect(await remove()).toEqual(['ok', false])
  })

  it.each([
    ['a file, however old', 'file', true, 'fail not-empty'],
    ['a write that may go on', `${TEMPORARY_PREFIX}aa.tmp`, false, 'fail system'],
  ])('leaves one with %s', async (_, name, isOld, answer) => {
    put(name, isOld)
    expect(await remove()).toEqual([answer, true])
  })

  it('removes one that is empty', async () => {
    expect(await remove()).toEqual(['ok', false])
  })
})
