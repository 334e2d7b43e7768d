// A model may refuse every length: a conversation is not halved for ever.
import { defineAgent, ModelError, type StepResult } from '@helix-agents/core'
import { expect, test } from 'vitest'
import { createHarness, say } from './harness.ts'

const agent = defineAgent({ name: 'a', llmConfig: { model: {} } })
const tooLong: StepResult = {
  type: 'error',
  error: new ModelError('context-length'),
  shouldStop: true,
}

/** The lengths of the conversations that a model gets that refuses so many of them. */
async function sentTo(refusals: number) {
  const message = Array.from({ length: 20_000 }, (_, index) => ({
    role: 'user' as const,
    content: `message ${index}`,
  }))
  const lengths: number[] = []
  const step = ({ messages }: { readonly messages: readonly unknown[] }): StepResult => {
    lengths.push(messages.length)
    return lengths.length > refusals ? say('done') : tooLong
  }
  const { executor } = createHarness(Array.from({ length: refusals + 1 }, () => step))
  const handle = await executor.execute(agent, { message })
  return { result: await handle.result(), lengths }
}

test('the model gets a shorter conversation six times, and no seventh time', async () => {
  const taken = await sentTo(6)
  expect(taken.result).toMatchObject({ status: 'completed', output: 'done' })
  expect(taken.lengths).toHaveLength(7)
  expect(taken.lengths.toSorted((one, other) => other - one)).toEqual(taken.lengths)
  // What is left could be halved once more.
  expect(taken.lengths.at(-1)).toBeGreaterThan(3)
  const refused = await sentTo(7)
  expect(refused.result).toMatchObject({ status: 'failed', error: { code: 'context-length' } })
  expect(refused.lengths).toHaveLength(7)
})
