import { TestSampler } from '@helix-agents/core/testing'
import { defineConformance } from '@helix-agents/workspace-conformance'
import { streamBehaviours } from '@helix-agents/workspace-conformance/store'
import { describe, it } from 'vitest'
import { emptiedPlace, opened } from './opened.ts'

const runner = { it, fails: it.fails }
const maxBufferedChunks = 10

/** Behind a pooler only the wait for what is new differs. */
const polled = new TestSampler().pick(
  'behind a pooler',
  streamBehaviours,
  streamBehaviours.length / 3,
)

describe.each([
  ['that listens', true, streamBehaviours],
  ['behind a transaction pooler', false, polled],
] as const)('PostgresStreamManager %s', (_, listen, behaviours) => {
  const options = { streams: { maxBufferedChunks }, listen }
  defineConformance(runner, behaviours, {
    create: async () => {
      const url = await emptiedPlace()
      const { streamManager } = await opened(url, options)
      const reopen = async () => (await opened(url, options)).streamManager
      return { streams: streamManager, maxBufferedChunks, reopen }
    },
    offers: ['durable', 'shared'],
  })
})
