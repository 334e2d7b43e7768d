import { getEventListeners } from 'node:events'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { CommandGate } from '../../src/shell/command-gate.ts'

const never = new AbortController().signal

/** Commands that end when they are told to. */
class Commands {
  readonly started: number[] = []
  readonly #ends: (() => void)[] = []

  readonly start = (name: number) => async (): Promise<number> => {
    this.started.push(name)
    await new Promise<void>((resolve) => (this.#ends[name] = resolve))
    return name
  }

  async end(name: number): Promise<void> {
    this.#ends[name]?.()
    await turns(10)
  }
}

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await nextTurn()
}

it('lets no more through than its limit, and the others in order', async () => {
  const [gate, commands] = [new CommandGate(2), new Commands()]
  const results = [0, 1, 2, 3].map((name) => gate.run(commands.start(name), never))
  await turns(10)
  expect(commands.started).toEqual([0, 1])
  await commands.end(1)
  expect(commands.started).toEqual([0, 1, 2])
  await commands.end(0)
  expect(commands.started).toEqual([0, 1, 2, 3])
  await commands.end(2)
  await commands.end(3)
  expect(await Promise.all(results)).toEqual([0, 1, 2, 3])
})

it('starts one command in a turn of the event loop', async () => {
  const [gate, commands] = [new CommandGate(100), new Commands()]
  const results = Array.from({ length: 50 }, (_, name) => gate.run(commands.start(name), never))
  for (let turn = 0; commands.started.length < 50; turn += 1) {
    expect(commands.started.length).toBeLessThanOrEqual(turn)
    await nextTurn()
  }
  for (let name = 0; name < 50; name += 1) void commands.end(name)
  expect((await Promise.all(results)).length).toBe(50)
})

it('a place is given back by a command that fails, and by one that is aborted', async () => {
  const [gate, commands] = [new CommandGate(1), new Commands()]
  const controller = new AbortController()
  const failing = gate.run(() => Promise.reject(new Error('failed')), never)
  const waiting = gate.run(commands.start(0), controller.signal)
  const last = gate.run(commands.start(1), never)
  controller.abort(new Error('stopped'))
  await Promise.all([
    expect(failing).rejects.toThrow('failed'),
    expect(waiting).rejects.toThrow('stopped'),
  ])
  await turns(10)
  expect(commands.started).toEqual([1])
  await commands.end(1)
  expect(await last).toBe(1)
  const aborted = gate.run(commands.start(2), AbortSignal.abort(new Error('before')))
  await expect(aborted).rejects.toThrow('before')
  expect(await gate.run(async () => 'free', never)).toBe('free')
})

it('who has waited for a place leaves nothing with the signal', async () => {
  const [gate, commands] = [new CommandGate(1), new Commands()]
  const abort = new AbortController()
  const first = gate.run(commands.start(0), never)
  const second = gate.run(commands.start(1), abort.signal)
  await turns(10)
  expect(getEventListeners(abort.signal, 'abort')).toHaveLength(1)
  await commands.end(0)
  expect(getEventListeners(abort.signal, 'abort')).toEqual([])
  await commands.end(1)
  await Promise.all([first, second])
})

it('an abort between the place and the turn gives the place back', async () => {
  const gate = new CommandGate(1)
  const controller = new AbortController()
  const first = gate.run(async () => 'ran', controller.signal)
  await Promise.resolve()
  controller.abort(new Error('stopped'))
  await expect(first).rejects.toThrow('stopped')
  expect(await gate.run(async () => 'free', never)).toBe('free')
})
