import * as core from '@helix-agents/core'
import * as vercel from '@helix-agents/llm-vercel'
import * as environment from '@helix-agents/llm-vercel/environment'
import * as runtime from '@helix-agents/runtime-js'
import * as memoryStore from '@helix-agents/store-memory'
import * as sqlite from '@helix-agents/store-sqlite'
import * as localBash from '@helix-agents/workspace-local-bash'
import * as memory from '@helix-agents/workspace-memory'
import { expect, test } from 'vitest'
import * as sdk from '../src/index.ts'
import * as models from '../src/models.ts'
import * as node from '../src/node.ts'

/** For other runtimes, which take them from runtime-js. */
const leftOut = ['endStream', 'loadBranchSeed']

test.each([
  ['core', core, sdk],
  ['runtime-js', runtime, sdk],
  ['store-memory', memoryStore, sdk],
  ['workspace-memory', memory, sdk],
  ['store-sqlite', sqlite, node],
  ['workspace-local-bash', localBash, node],
  ['llm-vercel', vercel, models],
  ['llm-vercel/environment', environment, models],
])('every value of %s is re-exported, as the same object', (_, part, entry) => {
  const exported: Readonly<Record<string, unknown>> = entry
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
