// A stream that is written in pieces, by the bash of this machine.
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '@helix-agents/core'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ContainerLink } from '../../../src/driver/remote/container-link.ts'
import type { ScriptOutput, ScriptRunner } from '../../../src/driver/remote/script-runner.ts'
import { writeStream } from '../../../src/driver/remote/write-file.ts'

const here = process.platform === 'linux'
const note = here ? '' : ' (skipped: needs the bash and coreutils of Linux)'

describe.skipIf(!here)(`a stream into a file${note}`, () => {
  let directory: string
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'helix-stream-'))
    mkdirSync(join(directory, 'root'))
  })
  afterEach(() => rmSync(directory, { recursive: true, force: true }))

  const root = (): string => join(directory, 'root')

  /** @param kept How many bytes of what was stored are there afterwards. */
  function write(text: string, kept: number): Promise<unknown> {
    const runner: ScriptRunner = {
      run: runBash,
      store: async (path, data) => {
        const bytes = await new Response(data as ReadableStream<Uint8Array>).bytes()
        writeFileSync(path, bytes.subarray(0, kept))
      },
      fetch: () => Promise.reject(new Error('unused')),
    }
    const settings = { root: root(), scratch: join(directory, 'scratch') }
    const nonces = ['aa', 'bb', 'cc', 'dd']
    const createNonce = (): string => nonces.shift() ?? 'ee'
    const link = new ContainerLink({ runner, settings, clock: systemClock, createNonce })
    const data = new Blob([text]).stream()
    return writeStream(link, { path: join(root(), 'file'), data }, {})
  }

  it('is in its place as a whole, also when it is empty', async () => {
    expect(await write('whole', 5)).toMatchObject({ type: 'file', sizeBytes: 5 })
    expect(readFileSync(join(root(), 'file'), 'utf8')).toBe('whole')
    expect(await write('', 0)).toMatchObject({ sizeBytes: 0 })
    expect(readdirSync(root())).toEqual(['file'])
  })

  it('leaves the file as it was when not all of it is there', async () => {
    writeFileSync(join(root(), 'file'), 'before')
    await expect(write('whole', 3)).rejects.toMatchObject({ name: 'DriverError', code: 'failed' })
    expect(readFileSync(join(root(), 'file'), 'utf8')).toBe('before')
    expect(readdirSync(root())).toEqual(['file'])
  })
})

function runBash(script: string): Promise<ScriptOutput> {
  const child = spawn('bash', ['-c', script], { cwd: '/' })
  const chunks = { stdout: '', stderr: '' }
  child.stdout.on('data', (chunk: Buffer) => void (chunks.stdout += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => void (chunks.stderr += chunk.toString()))
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => resolve({ ...chunks, exitCode: code ?? 1 }))
  })
}
