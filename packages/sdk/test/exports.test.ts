import * as core from '@helix-agents/core'
import * as runtime from '@helix-agents/runtime-js'
import * as store from '@helix-agents/store-memory'
import * as memory from '@helix-agents/workspace-memory'
import { expect, test } from 'vitest'
import * as sdk from '../src/index.ts'

/** For other runtimes, which take them from runtime-js. */
const leftOut = ['endStream', 'loadBranchSeed']

test.each([
  ['core', core],
  ['runtime-js', runtime],
  ['store-memory', store],
  ['workspace-memory', memory],
])('every value of %s is re-exported, as the same object', (_, part) => {
  const exported: Readonly<Record<string, unknown>> = sdk
  const offered = Object.entries(part).filter(([name]) => !leftOut.includes(name))
  for (const [name, value] of offered) {
    expect(exported[name], `${name} is another object`).toBe(value)
  }
})

test('mixing imports of the umbrella and of core meets one class', () => {
  const error = new core.FileSystemError('not-found', '/poem.txt')
  expect(error).toBeInstanceOf(sdk.FileSystemError)
  expect(sdk.HelixError.isInstance(error)).toBe(true)
})
