import { expect, test } from 'vitest'
import type { FileSystem, Shell, Workspace } from '../../../src/provider.ts'
import { ChangeTracker } from '../../../src/registry/entry/change-tracker.ts'

const done = Promise.resolve()

/** Methods of private state, as those of a class are. */
class Files {
  #written = 0
  attributes = { readMode: async () => 0o644, writeModes: async () => {} }
  async readFile() {
    return new Uint8Array(this.#written)
  }
  async writeFile() {
    this.#written += 1
  }
  withoutLinks() {
    return new Files()
  }
}

function watched(shell: Partial<Shell> = {}) {
  const tracker = new ChangeTracker()
  const workspace = { id: 'w', isolation: 'none', fs: new Files(), shell, close: () => done }
  const live = tracker.watch(workspace as unknown as Workspace)
  return { tracker, live, fs: live.fs as FileSystem, raw: workspace as unknown as Workspace }
}

test('what reads is no change, and every other method is', async () => {
  const { tracker, fs, live } = watched({ list: async () => [] })
  await fs.readFile('/a')
  await fs.attributes?.readMode?.('/a')
  await fs.withoutLinks?.().readFile('/a')
  await live.shell?.list?.()
  expect([tracker.hasChanged, live.id]).toEqual([false, 'w'])
  for (const change of [
    () => fs.writeFile('/a', 'x'),
    () => fs.attributes?.writeModes?.([{ path: '/a', mode: 0o600 }]),
    () => fs.withoutLinks?.().writeFile('/a', 'x'),
  ]) {
    tracker.begin()
    expect(tracker.hasChanged).toBe(false)
    await change()
    expect(tracker.hasChanged).toBe(true)
  }
})

test('a change that is under way while a snapshot is taken counts again', async () => {
  const { promise, resolve } = Promise.withResolvers<never>()
  const { tracker, live } = watched({ run: () => promise })
  const running = live.shell?.run('sleep')
  tracker.begin()
  expect(tracker.hasChanged).toBe(true)
  resolve(undefined as never)
  await running
  expect(tracker.hasChanged).toBe(true)
  tracker.begin()
  expect(tracker.hasChanged).toBe(false)
})

test('a method that fails may have changed something', async () => {
  const { tracker, live } = watched({ run: () => Promise.reject(new Error('failed')) })
  await expect(live.shell?.run('x')).rejects.toThrow('failed')
  expect(tracker.hasChanged).toBe(true)
})

test('a background process counts as long as it runs, and once more when it has ended', async () => {
  let state: 'running' | 'exited' = 'running'
  const process = () => ({ id: 'p', command: 'x', state, startedAt: new Date(0) })
  const shell = { start: async () => process(), list: async () => [process()] }
  const { tracker, live, raw } = watched(shell)
  await live.shell?.start?.('x')
  for (const expected of [true, true]) {
    tracker.begin()
    await tracker.checkProcesses(raw)
    expect([tracker.hasChanged, tracker.mayRunProcesses]).toEqual([true, expected])
  }
  state = 'exited'
  tracker.begin()
  await tracker.checkProcesses(raw)
  expect([tracker.hasChanged, tracker.mayRunProcesses]).toEqual([true, false])
  tracker.begin()
  await tracker.checkProcesses(raw)
  expect(tracker.hasChanged).toBe(false)
})

test('a change that fails at once, or ends at once, is over', () => {
  const tracker = new ChangeTracker()
  const broken = { id: 'w', isolation: 'none', close: () => done } as const
  const live = tracker.watch({
    ...broken,
    fs: {
      writeFile: () => {
        throw new Error('no disk')
      },
      rm: () => 'at once',
    },
  } as unknown as Workspace)
  expect(() => live.fs?.writeFile('/a', '')).toThrow('no disk')
  void live.fs?.rm('/a')
  tracker.begin()
  expect(tracker.hasChanged).toBe(false)
})
