// The store in memory is the model: the same calls give the same results and the same errors,
// also when the file is closed and opened in between.
import { join } from 'node:path'
import type { SessionStateStore } from '@helix-agents/core/runtime'
import { TestSampler } from '@helix-agents/core/testing'
import { InMemoryStateStore } from '@helix-agents/store-memory'
import { openSqliteStores } from '@helix-agents/store-sqlite'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Call, type Names, opening, readEverything, sessionCalls } from './model/calls.ts'
import { canonical } from './model/canonical.ts'
import { interactionCalls } from './model/interaction-calls.ts'
import { temporaryDirectory } from './temporary-directory.ts'

const sampler = new TestSampler()

type Step = Call | 'reopen'

const steps: fc.Arbitrary<Step> = fc.oneof(
  { weight: 30, arbitrary: fc.oneof(...sessionCalls, ...interactionCalls) },
  { weight: 1, arbitrary: fc.constant('reopen' as const) },
)
const sequences = fc.array(steps, { minLength: 20, maxLength: 80, size: 'max' })

test('does what the store in memory does', async () => {
  const directory = temporaryDirectory()
  let files = 0
  const property = fc.asyncProperty(sequences, (sequence) =>
    compare(join(directory, `${files++}.db`), [...opening, ...sequence, readEverything]),
  )
  const numRuns = sampler.size(60, 15)
  await fc.assert(property, { numRuns, seed: sampler.seedOf('calls') })
  expect(files).toBeGreaterThanOrEqual(numRuns)
}, 120_000)

async function compare(path: string, sequence: readonly Step[]): Promise<void> {
  const model = new InMemoryStateStore()
  let stores = await openSqliteStores(path)
  const names: Names = { current: '', fresh: 0 }
  try {
    for (const step of sequence) {
      names.fresh++
      if (step === 'reopen') {
        await stores.close()
        stores = await openSqliteStores(path)
        continue
      }
      const expected = await outcomeOf(step, model, names)
      expect(await outcomeOf(step, stores.stateStore, names)).toBe(expected)
    }
  } finally {
    await stores.close()
  }
}

/** The result of a call in a form to compare, or the code of its error. */
async function outcomeOf(call: Call, store: SessionStateStore, names: Names): Promise<string> {
  try {
    return canonical(await call(store, names))
  } catch (error) {
    if (error instanceof Error && 'code' in error) return `${error.name}: ${String(error.code)}`
    throw error
  }
}
