import { expect, test } from 'vitest'
import { fileFilters, isSelected } from './file-filters.ts'

const root = `${import.meta.dirname}/../..`

test('the parts of paths are found among the options', () => {
  const args = ['run', '--config', 'vitest.workspace.ts', 'Packages/Core', '-t', 'a name', 'cli']
  expect(fileFilters(args)).toEqual(['packages/core', 'cli'])
})

test('without parts of paths, and where an option is unknown, all files count', () => {
  expect(fileFilters(['run', '--config', 'vitest.workspace.ts', '--no-color'])).toBeUndefined()
  expect(fileFilters(['run', '--shard', '1/2', 'packages/core'])).toBeUndefined()
  expect(isSelected(undefined, ['nothing/*.test.ts'], root)).toBe(true)
})

test('a folder is selected by a part of the path of any of its files', () => {
  const folder = ['packages/core/test/**/*.test.ts']
  expect(isSelected(['packages/core'], folder, root)).toBe(true)
  expect(isSelected(['packages/cli', 'errors/model'], folder, root)).toBe(true)
  expect(isSelected(['packages/cli'], folder, root)).toBe(false)
})
