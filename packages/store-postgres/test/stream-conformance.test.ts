import { defineConformance } from '@helix-agents/workspace-conformance'
import { streamBehaviours } from '@helix-agents/workspace-conformance/store'
import { describe, it } from 'vitest'
import { emptiedPlace, opened } from './opened.ts'

const runner = { it, fails: it.fails }
const maxBufferedChunks = 10

describe.each([
  ['that listens', true],
  ['behind a transaction pooler', false],
])('PostgresStreamManager %s', (_, listen) => {
  const options = { streams: { maxBufferedChunks }, listen }
  defineConformance(runner, streamBehaviours, {
    create: async () => {
      const url = await emptiedPlace()
      const { streamManager } = await opened(url, options)
      const reopen = async () => (await opened(url, options)).streamManager
      return { streams: streamManager, maxBufferedChunks, reopen }
    },
    offers: ['durable', 'shared'],
  })
})
