import { spawnSync } from 'node:child_process'
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { confined, whyNotConfined } from './confinement.ts'

const folder = mkdtempSync(join(tmpdir(), 'helix-confined-'))
const outside = mkdtempSync(join(tmpdir(), 'helix-outside-'))
afterAll(() => {
  for (const each of [folder, outside]) rmSync(each, { recursive: true })
})
const reason = whyNotConfined(folder)

function run(script: string) {
  const [program, ...args] = confined(['sh', '-c', script], folder)
  return spawnSync(program, args, { cwd: folder, encoding: 'utf8' })
}

test.skipIf(reason !== undefined)('a command writes to its folder and its own tmp alone', () => {
  const kept = join(outside, 'kept')
  writeFileSync(kept, 'kept')
  const { status } = run(`
    echo inside > inside
    echo temporary > '${tmpdir()}/temporary'
    rm -rf '${outside}' '${import.meta.filename}' 2>/dev/null
    echo gone > '${import.meta.dirname}/gone' || exit 7`)
  expect(status).toBe(7)
  expect(readFileSync(join(folder, 'inside'), 'utf8')).toBe('inside\n')
  const [own = ''] = globSync(join(folder, 'tmp-*/temporary'))
  expect(readFileSync(own, 'utf8')).toBe('temporary\n')
  expect(existsSync(join(tmpdir(), 'temporary'))).toBe(false)
  expect(readFileSync(kept, 'utf8')).toBe('kept')
  expect(existsSync(import.meta.filename)).toBe(true)
})

test.skipIf(reason !== undefined)(
  'it sees no process but its own, and no file named by another',
  () => {
    expect(run(`kill -0 ${process.pid}`).status).not.toBe(0)
    expect(run(`touch '${tmpdir()}/of-1'`).status).toBe(0)
    expect(run(`test -e '${tmpdir()}/of-1'`).status).toBe(1)
  },
)

test('without the program there is a reason', () => {
  const path = process.env.PATH
  try {
    process.env.PATH = folder
    expect(whyNotConfined(folder)).toContain('unshare')
  } finally {
    process.env.PATH = path
  }
})
