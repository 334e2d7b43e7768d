// Every name that a user can write or read from outside stands in a test that would miss it.
import { expect, test } from 'vitest'
import { testTexts, unnamed } from './named-in-tests.ts'
import { publicSurface, type SurfaceKind, type SurfaceName } from './public-surface.ts'

const surface = publicSurface()
const texts = testTexts()

test('options, error codes, log texts, metrics, routes and flags are named in tests', () => {
  const missing = unnamed(surface, texts).map(
    ({ kind, folder, owner, name }) => `${kind} ${name} (${folder}, ${owner})`,
  )
  expect(missing).toEqual([])
})

const counts: readonly (readonly [SurfaceKind, number])[] = [
  ['option', 200],
  ['error code', 60],
  ['log text', 15],
  ['metric', 10],
  ['route', 15],
  ['flag', 20],
]

test.each(counts)('the sources have names of the kind %s', (kind, count) => {
  expect(surface.filter((each) => each.kind === kind).length).toBeGreaterThan(count)
  const unknown: SurfaceName = { kind, name: 'neverWritten', folder: 'core', owner: 'Never' }
  expect(unnamed([unknown], texts)).toEqual([unknown])
})

test('a name in quotes or in the tests of another package is none', () => {
  const option: SurfaceName = { kind: 'option', name: 'maxSize', folder: 'core', owner: 'Options' }
  const misses = (file: string, text: string): boolean =>
    unnamed([option], [{ file, text }]).length > 0
  expect(misses('packages/core/test/a.test.ts', 'create({ maxSize: 1 })')).toBe(false)
  expect(misses('packages/cli/test/a.test.ts', 'create({ maxSize: 1 })')).toBe(true)
  const imported = "import { create } from '@helix-agents/core'\ncreate({ maxSize: 1 })"
  expect(misses('packages/cli/test/a.test.ts', imported)).toBe(false)
  expect(misses('packages/core/test/a.test.ts', "test('maxSize')")).toBe(true)
})
