// A process that froze between the begin of its run and that of its stream.
import type { StreamManager } from '@helix-agents/core/runtime'
import { expect, test } from 'vitest'
import { emptyPlace, opened } from './opened.ts'
import { NOW } from './script.ts'

const base = { type: 'text_delta', agentType: 'a', timestamp: NOW } as const

test.each(['startRun', 'resumeRun'] as const)(
  'a run that has lost its session takes no stream by %s',
  async (late) => {
    const { stateStore, streamManager } = await opened(await emptyPlace())
    const session = { sessionId: 's', agentType: 'a', customState: 0, now: NOW } as const
    await stateStore.createSession(session)
    const first = await begin('first')
    const second = await begin('second')
    await second.write({ ...base, agentId: 'second', delta: 'before' })
    const stale = await streamManager[late]('s', 'first', 'a')
    await stale.write({ ...base, agentId: 'first', delta: 'stale' })
    await first.write({ ...base, agentId: 'first', delta: 'stale' })
    await second.write({ ...base, agentId: 'second', delta: 'after' })
    await streamManager.endRun('s', 'first')
    await streamManager.endRun('s', 'second')
    expect(await deltasOf(streamManager)).toEqual(['before', 'after'])

    /** Its lease is over at once. */
    async function begin(runId: string) {
      await stateStore.beginRun({ sessionId: 's', runId, leaseMs: 0, now: NOW })
      return streamManager.resumeRun('s', runId, 'a')
    }
  },
)

/** To the end of the run. */
async function deltasOf(streams: StreamManager): Promise<readonly string[]> {
  const deltas: string[] = []
  for await (const chunk of (await streams.read('s')) ?? []) {
    if (chunk.type === 'text_delta') deltas.push(chunk.delta)
  }
  return deltas
}
