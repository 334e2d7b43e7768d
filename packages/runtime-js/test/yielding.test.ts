// A run whose model and tools do no real I/O leaves timers their turn.
import { defineTool } from '@helix-agents/core'
import { InMemoryStateStore } from '@helix-agents/store-memory'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import * as z from 'zod'
import { add, agentWith, calls, createHarness, gate, say, settle } from './harness.ts'

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

/** Counts the turns of the event loop, from the first one. */
function countTurns() {
  const counter = { turns: 0, isRunning: true }
  const next = (): void => {
    counter.turns += 1
    if (counter.isRunning) setImmediate(next)
  }
  setImmediate(next)
  onTestFinished(() => void (counter.isRunning = false))
  return counter
}

/** A clock that stands still, or on which so many milliseconds pass with every look. */
function useClock(msPerLook: number): void {
  let now = 0
  vi.spyOn(performance, 'now').mockImplementation(() => (now += msPerLook))
  onTestFinished(() => void vi.restoreAllMocks())
}

/** A tool that takes no time. */
function quick(name: string, readOnly: boolean, execute: () => unknown = () => undefined) {
  const [inputSchema, annotations] = [z.object({}), { readOnly }]
  return defineTool({
    name,
    orderKey: name,
    description: '',
    inputSchema,
    annotations,
    execute: async () => execute(),
  })
}

const kinds = [
  ['that run in parallel', true],
  ['that wait for each other', false],
] as const
const many = (count: number) => calls(...Array.from({ length: count }, () => ['look'] as const))

/** How many fall into each turn. */
function perTurn(turns: readonly number[]): readonly number[] {
  return Object.values(Object.groupBy(turns, (turn) => turn)).map((some = []) => some.length)
}

describe.each(kinds)('calls %s', (_, readOnly) => {
  async function turnsOf(steps: ReturnType<typeof calls>[]) {
    const counter = countTurns()
    const turns: number[] = []
    const agent = agentWith(quick('look', readOnly, () => turns.push(counter.turns)))
    const { executor } = createHarness([...steps, say('Done.')])
    const result = await (await executor.execute(agent, 'Go.')).result()
    expect(result.status).toBe('completed')
    return turns
  }

  test('leave timers their turn, however many one answer has', async () => {
    useClock(1)
    const turns = await turnsOf([many(200)])
    expect(turns).toHaveLength(200)
    expect(Math.max(...perTurn(turns))).toBeLessThanOrEqual(16)
  })

  test('are not put off while they take no time', async () => {
    useClock(0)
    const turns = await turnsOf([many(3), many(16), many(3)])
    expect(turns).toEqual(Array.from({ length: 22 }, () => 0))
  })
})

test.each([0, 1])('of calls that run in parallel 16 start at once: %i ms', async (msPerLook) => {
  useClock(msPerLook)
  const counter = countTurns()
  const turns: number[] = []
  const agent = agentWith(quick('look', true, () => turns.push(counter.turns)))
  const { executor } = createHarness([many(40), say('Done.')])
  await (await executor.execute(agent, 'Go.')).result()
  expect(perTurn(turns)).toEqual([16, 16, 8])
})

test('reads that a write has held up leave timers their turn', async () => {
  useClock(1)
  const counter = countTurns()
  const turns: number[] = []
  const put = { ...quick('put', false, settle), orderKey: 'box' }
  const look = { ...quick('look', true, () => turns.push(counter.turns)), orderKey: 'box' }
  const step = calls(['put'], ...Array.from({ length: 200 }, () => ['look'] as const))
  const { executor } = createHarness([step, say('Done.')])
  await (await executor.execute(agentWith(put, look), 'Go.')).result()
  expect(turns).toHaveLength(200)
  expect(Math.max(...perTurn(turns))).toBeLessThanOrEqual(16)
})

test('results of many calls that end at once are stored in several turns', async () => {
  useClock(1)
  const counter = countTurns()
  const [hold, turns] = [gate(), [] as number[]]
  const store = new InMemoryStateStore()
  const completeToolCall = store.completeToolCall.bind(store)
  store.completeToolCall = (end) => {
    turns.push(counter.turns)
    return completeToolCall(end)
  }
  const names = Array.from({ length: 60 }, (_, index) => `change${index}`)
  const agent = agentWith(...names.map((name) => quick(name, false, () => hold.opened)))
  const step = calls(...names.map((name) => [name] as const))
  const { executor } = createHarness([step, say('Done.')], { store })
  const handle = await executor.execute(agent, 'Go.')
  await settle()
  hold.open()
  expect((await handle.result()).status).toBe('completed')
  expect(turns).toHaveLength(59)
  expect(Math.max(...perTurn(turns))).toBeLessThanOrEqual(8)
})

test('results that take no time to store are stored in one turn', async () => {
  useClock(0)
  const counter = countTurns()
  const names = ['a', 'b', 'c', 'd']
  const agent = agentWith(...names.map((name) => quick(name, false)))
  const { executor } = createHarness([calls(...names.map((name) => [name] as const)), say('Done.')])
  await (await executor.execute(agent, 'Go.')).result()
  expect(counter.turns).toBe(0)
})
