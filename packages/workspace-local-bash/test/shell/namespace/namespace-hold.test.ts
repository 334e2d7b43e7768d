// How the processes of a namespace are ended, with processes that have none: a leader, and its child as
// the first one inside.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { NamespaceHold } from '../../../src/shell/namespace/namespace-hold.ts'
import { NamespaceHolds } from '../../../src/shell/namespace/namespace-holds.ts'
import { sendSignal } from '../../../src/shell/processes/freeze.ts'
import { childrenOf, isEnded, readProcess } from '../../../src/shell/processes/process-table.ts'

const started: ChildProcess[] = []
afterEach(() => {
  vi.useRealTimers()
  for (const { pid } of started.splice(0)) if (pid !== undefined) sendSignal(-pid, 'SIGKILL')
})

/** A leader, in a group of its own. @returns how it ends, too */
function start(file: string, ...args: readonly string[]) {
  const child = spawn(file, args, { detached: true, stdio: ['pipe', 'ignore', 'ignore'] })
  started.push(child)
  return { child, pid: child.pid ?? 0, ended: once(child, 'exit') as Promise<unknown[]> }
}
/** A leader that ends with 7 after its child, which waits for a child of its own. */
async function startNamespace(prepare = '') {
  const leader = start('/bin/bash', '-c', `${prepare} bash -c 'sleep 986; :'; exit 7`)
  const grandchildren = (): number[] => childrenOf(leader.pid).flatMap(childrenOf)
  await expect.poll(grandchildren, { interval: 1 }).toHaveLength(1)
  const [first = 0] = childrenOf(leader.pid)
  const [inside = 0] = grandchildren()
  return { ...leader, first, inside }
}
const runs = (pid: number): boolean => {
  const entry = readProcess(pid)
  return entry !== undefined && !isEnded(entry)
}
const useFakeTime = (): void =>
  void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })

describe('processes that are ended', () => {
  it('are asked, but for the first one, which ends when its children do', async () => {
    const { pid, ended, inside } = await startNamespace()
    const hold = new NamespaceHold(pid, ended)
    expect(hold.isEmpty).toBe(false)
    await hold.end(600_000)
    expect([await ended, hold.isEmpty, runs(inside)]).toEqual([[7, null], true, false])
  })
  it('are killed with the first one, when they do not obey in time', async () => {
    const { pid, ended, first } = await startNamespace("trap '' TERM;")
    const hold = new NamespaceHold(pid, ended)
    const startMs = performance.now()
    await hold.end(30)
    expect(performance.now() - startMs).toBeGreaterThanOrEqual(29)
    expect([await ended, hold.isEmpty, runs(first)]).toEqual([[7, null], true, false])
  })
  it('are killed without being asked, without time for that', async () => {
    const { pid, ended, first, inside } = await startNamespace()
    const hold = new NamespaceHold(pid, ended)
    await hold.end(0)
    expect([await ended, hold.isEmpty, runs(first)]).toEqual([[7, null], true, false])
    // Outside of a namespace nothing else ends it.
    expect(runs(inside)).toBe(true)
  })
  it('are waited for, while the first one is being made', async () => {
    const { child, pid, ended } = start(
      '/bin/bash',
      '-c',
      'read -r; bash -c "sleep 986; :"; exit 7',
    )
    const hold = new NamespaceHold(pid, ended)
    const ending = hold.end(0)
    await new Promise((resolve) => setImmediate(resolve))
    child.stdin?.write('\n')
    await ending
    expect([await ended, hold.isEmpty]).toEqual([[7, null], true])
  })
  it('are none when the leader has ended by itself', async () => {
    const other = start('/bin/sleep', '986')
    for (const ended of [Promise.resolve(), Promise.reject(new Error('no start'))]) {
      const hold = new NamespaceHold(other.pid, ended)
      expect(hold.isEmpty).toBe(false)
      await hold.endLeftovers()
      expect(hold.isEmpty).toBe(true)
      await hold.end(600_000)
    }
    expect(runs(other.pid)).toBe(true)
  })
})

describe('a leader that makes no first process', () => {
  it('is killed after two seconds, and what it was about to start is not known', async () => {
    const { pid, ended } = start('/bin/sleep', '986')
    const holds = new NamespaceHolds()
    const hold = holds.add(pid, ended)
    useFakeTime()
    const ending = hold.end(0)
    await vi.advanceTimersByTimeAsync(1999)
    expect(runs(pid)).toBe(true)
    await vi.advanceTimersByTimeAsync(2)
    expect(await ended).toEqual([null, 'SIGKILL'])
    await ending
    await hold.endLeftovers()
    expect([hold.isEmpty, holds.areEmpty]).toEqual([false, false])
  })
  it('is waited for one more second when even the system cannot end it', async () => {
    const { pid } = start('/bin/sleep', '986')
    const hold = new NamespaceHold(pid, new Promise(() => {}))
    useFakeTime()
    let isOver = false
    const ending = hold.end(0).then(() => (isOver = true))
    await vi.advanceTimersByTimeAsync(2001)
    await vi.advanceTimersByTimeAsync(998)
    expect(isOver).toBe(false)
    await vi.advanceTimersByTimeAsync(2)
    await ending
    expect([isOver, hold.isEmpty]).toEqual([true, false])
  })
})

it('a first process and a leader that the system cannot end are waited for a second each', async () => {
  const { pid } = await startNamespace()
  const hold = new NamespaceHold(pid, new Promise(() => {}))
  useFakeTime()
  let isOver = false
  const ending = hold.end(0).then(() => (isOver = true))
  await vi.advanceTimersByTimeAsync(1999)
  expect(isOver).toBe(false)
  await vi.advanceTimersByTimeAsync(1)
  await ending
})

it('what a command left is waited for until its leader has ended', async () => {
  const ended = Promise.withResolvers<void>()
  const hold = new NamespaceHold(2 ** 30, ended.promise)
  let isOver = false
  const ending = hold.endLeftovers().then(() => (isOver = true))
  await new Promise((resolve) => setImmediate(resolve))
  expect(isOver).toBe(false)
  ended.resolve()
  await ending
})

it('the namespaces of a shell are empty when all of them are', async () => {
  const holds = new NamespaceHolds()
  expect(holds.areEmpty).toBe(true)
  const [one, two] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  holds.add(2 ** 30, one.promise)
  const last = holds.add(2 ** 30, two.promise)
  one.resolve()
  await one.promise
  expect(holds.areEmpty).toBe(false)
  two.reject(new Error('no start'))
  await last.endLeftovers()
  expect(holds.areEmpty).toBe(true)
})
