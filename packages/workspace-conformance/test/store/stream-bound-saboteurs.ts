import type { StreamManager } from '@helix-agents/core/runtime'
import type { ReferenceStreams } from './reference-streams.ts'

/** What a stream manager gets wrong at the end of a run, and with what it should cut or refuse. */
export const streamBoundSaboteurs: Readonly<
  Record<string, (good: ReferenceStreams) => Partial<StreamManager>>
> = {
  'stream/end/has-a-last-chunk': (good) => ({
    endRun: (streamId, agentId) => good.endRun(streamId, agentId),
  }),
  'stream/end/last-chunk-is-written-once': (good) => ({
    endRun: async (streamId, agentId, last) => {
      Object.assign(good.streams.get(streamId) ?? {}, { open: true })
      await good.endRun(streamId, agentId, last)
    },
  }),
  'stream/end/last-chunk-of-another-run-reaches-no-reader': (good) => ({
    endRun: (streamId, agentId, last) =>
      good.endRun(streamId, last === undefined ? agentId : undefined, last),
  }),
  'stream/bounds/large-chunk-is-cut': (good) => ({
    startRun: async (...args) => {
      const writer = await good.startRun(...args)
      return {
        write: async (chunk) => {
          if (JSON.stringify(chunk, dropDeep).length < 2_000_000) await writer.write(chunk)
        },
      }
    },
  }),
  'stream/bounds/ids': (good) => ({
    resumeRun: (streamId, agentId, agentType) =>
      good.resumeRun(streamId, agentId, agentType.slice(0, 9)),
  }),
}

/** Leaves out what `JSON.stringify` could not write. */
function dropDeep(key: string, value: unknown): unknown {
  return key === 'data' ? undefined : value
}
