// A model may refuse every length: a conversation is not halved for ever.
import { defineAgent, type Message, ModelError, type StepResult } from '@helix-agents/core'
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

test('of three messages the middle one is left out, of two none is', async () => {
  const contents: unknown[][] = []
  const refusing = ({ messages }: { readonly messages: readonly Message[] }): StepResult => {
    contents.push(messages.map(({ content }) => content))
    return contents.length % 2 === 0 ? say('done') : tooLong
  }
  const ask = async (...texts: readonly string[]) => {
    const message = texts.map((content) => ({ role: 'user' as const, content }))
    const { executor } = createHarness([refusing, refusing])
    return (await executor.execute(agent, { message })).result()
  }
  const long = 'word '.repeat(1000)
  expect((await ask('first', long, 'last')).status).toBe('completed')
  expect(contents.map((texts) => texts.length)).toEqual([3, 3])
  expect(contents[1]).toEqual(['first', expect.not.stringContaining('word'), 'last'])
  contents.length = 0
  expect((await ask(long, long)).status).toBe('failed')
  expect(contents).toHaveLength(1)
})
