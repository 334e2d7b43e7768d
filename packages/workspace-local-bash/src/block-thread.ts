// What the thread of restores runs: it reads blocks that a restore will write next.
import { parentPort } from 'node:worker_threads'
import { readVerified } from './snapshots/read-ahead/read-verified.ts'
import type { BatchAnswer, BatchRequest } from './snapshots/read-ahead/messages.ts'

parentPort?.on('message', (request: BatchRequest) => {
  const { id, claims, index } = request
  if (Atomics.exchange(new Int32Array(claims), index, 1) === 1) return
  const bytes = readVerified(request)
  const answer: BatchAnswer = { id, bytes }
  parentPort?.postMessage(answer, bytes === undefined ? [] : [bytes.buffer])
})
