import { once } from 'node:events'
import { expect, test, vi } from 'vitest'
import { readSettings } from '../src/options.ts'
import { compileWasm } from '../src/seat/compile-wasm.ts'
import { ThreadPool } from '../src/seat/thread-pool.ts'

test('a thread is not ended while it loads', { timeout: 60_000 }, async () => {
  const pool = new ThreadPool(compileWasm, readSettings({}).limits)
  const thread = await pool.take()
  const seen: string[] = []
  thread.worker.on('message', ({ type }: { readonly type: string }) => seen.push(type))
  const { worker } = thread
  const terminate = worker.terminate.bind(worker)
  vi.spyOn(worker, 'terminate').mockImplementation(() => {
    seen.push('terminate')
    return terminate()
  })
  pool.discard(thread)
  await once(worker, 'exit')
  expect(seen).toEqual(['ready', 'terminate'])
})
