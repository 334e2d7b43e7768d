import { existsSync } from 'node:fs'
import { expect, test } from 'vitest'
import { LONG_FILES } from './long-files-first.ts'

test('the files that are known to be long exist', () => {
  const root = `${import.meta.dirname}/../..`
  expect(Object.keys(LONG_FILES).filter((file) => !existsSync(`${root}/${file}`))).toEqual([])
})
