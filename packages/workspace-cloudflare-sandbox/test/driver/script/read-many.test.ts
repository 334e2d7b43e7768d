// The script, run by the bash of this machine, and how its answer is read.
import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { FileLink } from '../../../src/driver/remote/container-link.ts'
import { readMany } from '../../../src/driver/remote/read-file.ts'
import { filePrelude } from '../../../src/driver/script/file-prelude.ts'
import { parseReply } from '../../../src/driver/script/reply.ts'

const run = promisify(execFile)
const here = process.platform === 'linux'
const note = here ? '' : ' (skipped: needs the bash and coreutils of Linux)'
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

describe.skipIf(!here)(`reading many files${note}`, () => {
  let root: string
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'helix-read-many-'))
  })
  afterEach(() => rmSync(root, { recursive: true, force: true }))

  async function read(
    names: readonly string[],
    maxBytes = 1_000_000,
  ): Promise<readonly (Uint8Array | undefined)[]> {
    const prelude = filePrelude({ root, scratch: join(root, 'scratch') }, 'aa', '')
    const ask: FileLink['ask'] = async (script) => {
      const options = { maxBuffer: 64 * 1024 * 1024 }
      return parseReply((await run('bash', ['-c', prelude + script], options)).stdout, 'aa')
    }
    const paths = names.map((name) => join(root, name))
    const files = await readMany({ ask } as FileLink, paths, { maxBytes })
    expect(files.map(({ path }) => path)).toEqual(paths.slice(0, files.length))
    return files.map((file) => file.bytes)
  }

  it.each([
    ['nothing', bytes('')],
    ['line ends', bytes('\n\r\n\n')],
    ['what an answer could be', bytes('-\n=3\n%aa files\n')],
    ['control characters', bytes('\u0001\u001b[31m\u007f')],
    ['text that is no ASCII', bytes('zß水🍌')],
    ['a NUL', new Uint8Array([97, 0, 98])],
    ['no text', new Uint8Array([0xff, 0xfe, 10])],
    ['8,192 characters', bytes('x'.repeat(8192))],
    ['8,193 characters', bytes('x'.repeat(8193))],
  ])('gives every byte of %s, and of what comes after it', async (_, content) => {
    writeFileSync(join(root, 'a'), content)
    writeFileSync(join(root, 'b'), 'after\n')
    expect(await read(['a', 'b', 'a'])).toEqual([content, bytes('after\n'), content])
  })

  it('has no bytes of what is no file, is missing or leads out', async () => {
    mkdirSync(join(root, 'd'))
    symlinkSync('/etc/hostname', join(root, 'out'))
    writeFileSync(join(root, 'a'), 'a')
    expect(await read(['d', 'none', 'out', 'a'])).toEqual([
      undefined,
      undefined,
      undefined,
      bytes('a'),
    ])
  })

  it('ends before the file that would be too much, and gives at least one', async () => {
    const large = bytes('x'.repeat(50_000))
    for (const name of ['a', 'b']) writeFileSync(join(root, name), large)
    expect(await read(['a', 'b'], 60_000)).toEqual([large])
    expect(await read(['a', 'b'], 10)).toEqual([large])
  })
})
