import { type StreamSubject, streamBehaviours } from '@helix-agents/workspace-conformance/store'
import { describe, expect, test } from 'vitest'
import { createReferenceStreams } from './reference-streams.ts'
import { streamSaboteurs } from './stream-saboteurs.ts'
import { isVerdict } from './verdict.ts'

const maxBufferedChunks = 10

function createSubject(sabotage?: (typeof streamSaboteurs)[string]): StreamSubject {
  const good = createReferenceStreams(maxBufferedChunks)
  return {
    streams: { ...good, ...sabotage?.(good) },
    maxBufferedChunks,
    reopen: async () => createReferenceStreams(maxBufferedChunks, good.streams),
  }
}

test('each behaviour has a saboteur', () => {
  const ids = streamBehaviours.map((behaviour) => behaviour.id)
  expect(Object.keys(streamSaboteurs)).toEqual(ids)
  expect(new Set(ids).size).toBe(ids.length)
})

// At once: some saboteurs are caught only when the patience with a silent stream is over.
describe.concurrent.each(streamBehaviours)('$id', (behaviour) => {
  test('accepts the reference', async () => {
    await expect(behaviour.run(createSubject())).resolves.toBeUndefined()
  })

  test('rejects its saboteur', { timeout: 120_000 }, async () => {
    const broken = createSubject(streamSaboteurs[behaviour.id])
    await expect(behaviour.run(broken)).rejects.toSatisfy(isVerdict)
  })
})
