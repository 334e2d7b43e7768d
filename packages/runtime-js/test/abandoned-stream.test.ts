// Readers of a stream whose process died between storing the end of its run and ending the stream.
import { StateStoreError } from '@helix-agents/core'
import type { SequencedChunk } from '@helix-agents/core/runtime'
import { ManualClock } from '@helix-agents/core/testing'
import { InMemoryStreamManager } from '@helix-agents/store-memory'
import { expect, test } from 'vitest'
import { agentWith, createHarness, gate, say, settle } from './harness.ts'

/** A run whose process stores its end and never ends the stream; a reader watches from elsewhere. */
async function abandoned(streams = new InMemoryStreamManager()) {
  const clock = new ManualClock(1_700_000_000_000)
  const answering = gate()
  const neverEnds = new InMemoryStreamManager()
  Object.assign(neverEnds, {
    startRun: streams.startRun.bind(streams),
    endRun: () => new Promise(() => {}),
  })
  const agent = agentWith()
  const answer = async () => {
    await answering.opened
    return say('The answer.')
  }
  const first = createHarness([answer], { clock, streams: neverEnds })
  await first.executor.execute(agent, 'Go.', { sessionId: 's' })
  const second = createHarness([], { clock, streams, store: first.store })
  const reader = (await second.executor.getHandle(agent, 's'))!.stream()[Symbol.asyncIterator]()
  const told: SequencedChunk[] = []
  const done = (async () => {
    for (let one = await reader.next(); one.done !== true; one = await reader.next()) {
      told.push(one.value)
    }
  })()
  await settle()
  answering.open()
  await settle()
  return { clock, told, done, streams, agent, second }
}

test('a reader that came while the run went on is told how it ended, within seconds', async () => {
  const { clock, told, done } = await abandoned()
  expect(told.map(({ type }) => type)).toEqual(['text_delta'])
  for (let second = 0; second < 10; second++) await clock.advance(1000)
  await done
  expect(told.at(-1)).toMatchObject({ type: 'output', output: 'The answer.' })
})

test('a reader through a store that is only read ends', async () => {
  const { clock, told, done, streams } = await abandoned()
  streams.endRun = () => Promise.reject(new StateStoreError('unavailable', 's', 'read only'))
  for (let second = 0; second < 40; second++) await clock.advance(1000)
  await done
  expect(told.map(({ type }) => type)).toEqual(['text_delta'])
})
