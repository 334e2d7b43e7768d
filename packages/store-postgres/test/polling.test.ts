// Readers that poll, as behind a pooler: many at once read one stream while it is written.
import type { SequencedChunk } from '@helix-agents/core/runtime'
import { expect, test } from 'vitest'
import { emptyPlace, opened } from './opened.ts'
import { NOW } from './script.ts'

test('many readers of one stream that poll get all of it', async () => {
  const url = await emptyPlace()
  const writer = await opened(url, { listen: false })
  const reader = await opened(url, { listen: false, pollMs: 1 })
  const names = Array.from({ length: 60 }, (_, at) => `${at}`)
  const stream = await writer.streamManager.startRun('stream', 'run', 'agent')
  const chunk = { type: 'text_delta', agentId: 'run', agentType: 'agent', timestamp: NOW } as const
  const readers = Array.from({ length: 24 }, () => deltasOf(reader.streamManager.read('stream')))
  for (const delta of names) await stream.write({ ...chunk, delta })
  await writer.streamManager.endRun('stream', 'run')
  expect(new Set(await Promise.all(readers))).toEqual(new Set([names.join()]))
})

async function deltasOf(reading: Promise<AsyncIterable<SequencedChunk> | null>): Promise<string> {
  const deltas: string[] = []
  for await (const chunk of (await reading) ?? []) {
    if (chunk.type === 'text_delta') deltas.push(chunk.delta)
  }
  return deltas.join()
}
