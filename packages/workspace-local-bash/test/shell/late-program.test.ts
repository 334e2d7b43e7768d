import { mkdirSync, mkdtempSync, readlinkSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { ANCHOR_NO_LINK } from '../../src/file-system/path/open-flags.ts'
import { PinnedDirectory } from '../../src/file-system/path/pinned-directory.ts'
import { createPlainLauncher, type Launch } from '../../src/shell/launcher.ts'
import { probeNamespace } from '../../src/shell/namespace/namespace.ts'
import { PipePool } from '../../src/shell/output/pipe-pool.ts'
import { startProcess } from '../../src/shell/start-process.ts'

const { namespace } = await probeNamespace()
const PROGRAM = '#!/bin/sh\nreadlink /proc/self/ns/pid\n'

let base: string
let directory: PinnedDirectory
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'helix-late-'))
  for (const part of ['root', 'scratch', 'tmp']) mkdirSync(join(base, part))
  directory = PinnedDirectory.open(join(base, 'root'), ANCHOR_NO_LINK)
})
afterEach(() => {
  directory.close()
  rmSync(base, { recursive: true, force: true })
})

/** Starts `./late`, which `appear` makes right after it was looked for. */
async function startLate(appear: (program: string) => void) {
  const held = { namespace, maxProcesses: 512 }
  const launcher = createPlainLauncher(join(base, 'root'), join(base, 'tmp'), held)
  const pool = new PipePool()
  const pipes = [await pool.take(join(base, 'scratch')), await pool.take(join(base, 'scratch'))]
  const printed: string[] = []
  const sink = async (piece: Uint8Array) => void printed.push(Buffer.from(piece).toString())
  const launch = (): Launch => {
    const request = { command: ['./late'], path: '/', directory, env: { PATH: '/usr/bin:/bin' } }
    const made = launcher.launch(request)
    appear(join(base, 'root', 'late'))
    return made
  }
  const [out, err] = pipes
  if (out === undefined || err === undefined) throw new TypeError('no pipes')
  const { ended, readers } = startProcess([out, err], launch, [sink, sink])
  const end = await ended
  await Promise.all(readers.map((reader) => reader.ended))
  return { end, printed: printed.join('') }
}

it.skipIf(namespace === undefined)(
  'a program that appears after it was looked for does not run outside of the namespace',
  async () => {
    const late = await startLate((path) => writeFileSync(path, PROGRAM, { mode: 0o755 }))
    expect(late.printed).not.toContain(readlinkSync('/proc/self/ns/pid'))
    expect(late).toEqual({
      end: { exitCode: 127, complaint: './late: command not found\n' },
      printed: '',
    })
  },
)

it.skipIf(namespace === undefined)('one that may not be executed says so', async () => {
  writeFileSync(join(base, 'root', 'late'), PROGRAM, { mode: 0o644 })
  const { end } = await startLate(() => {})
  expect(end).toEqual({ exitCode: 126, complaint: './late: Permission denied\n' })
})
