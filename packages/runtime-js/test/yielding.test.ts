// A run whose model and tools do no real I/O leaves timers their turn.
import { expect, test } from 'vitest'
import { add, agentWith, calls, createHarness, say } from './harness.ts'

function work(ms: number): void {
  const end = performance.now() + ms
  while (performance.now() < end);
}

test('timers ring while a run of many steps goes on', async () => {
  const steps = Array.from({ length: 40 }, () => () => {
    work(4)
    return calls(['add', { a: 1, b: 2 }])
  })
  const { executor } = createHarness([...steps, say('Done.')])
  let rung = 0
  const timer = setInterval(() => {
    rung += 1
  }, 1)
  const handle = await executor.execute(agentWith(add), 'Go.', { sessionId: 's' })
  const result = await handle.result()
  clearInterval(timer)
  expect(result.status).toBe('completed')
  expect(rung).toBeGreaterThan(5)
})

test('a stop reaches it from a timer', async () => {
  const forever = Array.from({ length: 5000 }, () => () => {
    work(1)
    return calls(['add', { a: 1, b: 2 }])
  })
  const { executor } = createHarness(forever)
  const handle = await executor.execute({ ...agentWith(add), maxSteps: 5000 }, 'Go.')
  setTimeout(() => void handle.abort(), 30)
  expect((await handle.result()).stepCount).toBeLessThan(2000)
})
