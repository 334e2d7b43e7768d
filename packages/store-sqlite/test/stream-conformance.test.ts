import { join } from 'node:path'
import { defineConformance } from '@helix-agents/workspace-conformance'
import { streamBehaviours } from '@helix-agents/workspace-conformance/store'
import { describe, it } from 'vitest'
import { opened } from './script.ts'
import { temporaryDirectory } from './temporary-directory.ts'

const runner = { it, fails: it.fails }
const maxBufferedChunks = 10
const options = { streams: { maxBufferedChunks } }

describe('SqlStreamManager on a file', () => {
  defineConformance(runner, streamBehaviours, {
    create: async () => {
      const path = join(temporaryDirectory(), 'helix.db')
      const { streamManager } = await opened(path, options)
      const reopen = async () => (await opened(path, options)).streamManager
      return { streams: streamManager, maxBufferedChunks, reopen }
    },
    offers: ['durable', 'shared', 'immediate'],
  })
})
