import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { clean } from './clean.ts'

let place: string
beforeEach(() => {
  place = mkdtempSync(join(realpathSync(tmpdir()), 'helix-clean-'))
})
afterEach(() => rmSync(place, { recursive: true, force: true }))

test('removes what builds left, and nothing that a link leads to', () => {
  const [repository, other] = [join(place, 'repository'), join(place, 'other')]
  for (const folder of ['packages/a/dist', 'packages/a/src']) {
    mkdirSync(join(repository, folder), { recursive: true })
  }
  mkdirSync(join(other, 'dist'), { recursive: true })
  symlinkSync(other, join(repository, 'packages/linked'))
  symlinkSync(other, join(repository, 'packages/a/.wrangler'))
  expect(clean(repository).toSorted()).toEqual(['packages/a/.wrangler', 'packages/a/dist'])
  expect(existsSync(join(repository, 'packages/a/dist'))).toBe(false)
  expect(existsSync(join(repository, 'packages/a/src'))).toBe(true)
  expect(existsSync(join(other, 'dist'))).toBe(true)
})
