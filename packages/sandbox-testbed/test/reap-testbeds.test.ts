import { chownSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { reapDeadTestbeds } from '../src/testbed-directory.ts'

/** No process of Linux has so high an id. */
const DEAD = 2 ** 22 + 1
let parent: string
beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'helix-reap-'))
})
afterEach(() => rmSync(parent, { recursive: true, force: true }))

test('only folders of dead test beds go: no links, no other names, nothing of other users', async () => {
  const at = (name: string): string => join(parent, name)
  mkdirSync(at('outside/deep'), { recursive: true })
  const kept = [
    'outside',
    `helix-testbed-${process.pid}-alive`,
    'helix-testbed--x',
    'helix-testbed',
  ]
  for (const name of [`helix-testbed-${DEAD}-abc`, ...kept])
    mkdirSync(at(name), { recursive: true })
  symlinkSync(at('outside'), at(`helix-testbed-${DEAD}-link`))
  const theirs = `helix-testbed-${DEAD}-theirs`
  if (process.getuid?.() === 0) {
    mkdirSync(at(theirs))
    chownSync(at(theirs), 12_345, 12_345)
    kept.push(theirs)
  }
  await reapDeadTestbeds(parent)
  expect(readdirSync(parent).toSorted()).toEqual([...kept, `helix-testbed-${DEAD}-link`].toSorted())
  expect(readdirSync(at('outside'))).toEqual(['deep'])
})
