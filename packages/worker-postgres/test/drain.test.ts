import { expect, test, vi } from 'vitest'
import { createCluster, hold } from './harness.ts'

test('a slow heartbeat does not hide that a worker drains', async () => {
  await using cluster = await createCluster()
  const { queue, agent } = cluster
  const gate = hold(cluster, 'one')
  const worker = await cluster.worker({ machine: 'm1', heartbeatMs: 10 })
  await queue.enqueue(agent, 'one')
  await expect.poll(() => cluster.effects).toEqual(['one'])
  const begun = Promise.withResolvers<void>()
  const slow = Promise.withResolvers<void>()
  const saved = Promise.withResolvers<void>()
  const table = queue.workerTable
  const save = table.save.bind(table)
  vi.spyOn(table, 'save').mockImplementationOnce(async (row) => {
    begun.resolve()
    await slow.promise
    await save(row)
    saved.resolve()
  })
  await begun.promise
  const stopped = worker.stop()
  // One that overtakes the slow one has the time of two statements for it.
  await queue.workers()
  await queue.workers()
  slow.resolve()
  await saved.promise
  await expect.poll(() => queue.workers()).toMatchObject([{ state: 'draining' }])
  gate.open()
  await stopped
})
