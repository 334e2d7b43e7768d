// The walks of ARCHITECTURE.md: what a reader is sent to look for stands in the file that is named.
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { read, root } from './repository.ts'

const row = /^\| (?<change>[^|]+?) +\| \[[^\]]+\]\(\.\/(?<file>[^)]+)\) +\| `(?<name>[^`]+)` +\|$/gm
const walks = [...read('ARCHITECTURE.md').matchAll(row)].map(({ groups = {} }) => groups)

test('the architecture has walks', () => {
  expect(walks.length).toBeGreaterThan(7)
})

test.each(walks)('$change: `$name` stands in $file', ({ file = '', name = '' }) => {
  expect(statSync(join(root, file)).isFile()).toBe(true)
  expect(read(file)).toContain(name)
})
