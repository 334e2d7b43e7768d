import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { afterEach, expect, it } from 'vitest'
import { askAllToEnd, type SendSignal, sendSignal } from '../../../src/shell/processes/freeze.ts'
import { childrenOf, readProcess } from '../../../src/shell/processes/process-table.ts'

const started: ChildProcess[] = []
afterEach(() => {
  for (const { pid } of started.splice(0)) if (pid !== undefined) sendSignal(-pid, 'SIGKILL')
})

/** A shell that would say `never` when its child ends before it. */
async function startShell(): Promise<{
  shell: ChildProcess
  said: Promise<string>
  pids: readonly [number, number]
}> {
  const line = 'echo ready; sleep 976; echo never'
  const shell = spawn('bash', ['-c', line], { detached: true, stdio: ['ignore', 'pipe', 'ignore'] })
  started.push(shell)
  const { stdout } = shell
  if (stdout === null || shell.pid === undefined) throw new TypeError('no shell')
  let text = ''
  stdout.on('data', (piece: Buffer) => (text += piece.toString()))
  await once(stdout, 'data')
  let child: number | undefined
  while (child === undefined) [child] = childrenOf(shell.pid)
  return { shell, said: once(shell, 'close').then(() => text), pids: [child, shell.pid] as const }
}

/** Leaves a shell the time to go on after each signal, until it has ended. */
function sendSlowly(shell: number, timeMs: number): SendSignal {
  return (pid, signal) => {
    sendSignal(pid, signal)
    const untilMs = performance.now() + (signal === 'SIGTERM' ? timeMs : 0)
    while (performance.now() < untilMs && readProcess(shell)?.state !== 'Z') pause()
  }
}

function pause(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2)
}

it('one by one, a shell whose child ends before it goes on to its next command', async () => {
  const { said, pids } = await startShell()
  const send = sendSlowly(pids[1], 10_000)
  for (const pid of pids) send(pid, 'SIGTERM')
  expect(await said).toBe('ready\nnever\n')
})

it('all at once, no shell goes on, whatever the order', async () => {
  for (const order of [
    (pids: readonly number[]) => pids,
    (pids: readonly number[]) => pids.toReversed(),
  ]) {
    const { shell, said, pids } = await startShell()
    await askAllToEnd(async () => order(pids), sendSlowly(pids[1], 100))
    expect([await said, shell.signalCode]).toEqual(['ready\n', 'SIGTERM'])
  }
})

it('what comes while others are stopped is asked as well', async () => {
  const { said, pids } = await startShell()
  const asked: [number, NodeJS.Signals][] = []
  const looks = [pids.slice(1), pids, pids]
  await askAllToEnd(
    async () => looks.shift() ?? pids,
    (pid, signal) => {
      asked.push([pid, signal])
      sendSignal(pid, signal)
    },
  )
  expect(await said).toBe('ready\n')
  const [child, shell] = pids
  expect(asked.map(([pid, signal]) => `${pid === shell ? 'shell' : 'child'} ${signal}`)).toEqual([
    'shell SIGSTOP',
    'child SIGSTOP',
    'shell SIGTERM',
    'child SIGTERM',
    'shell SIGCONT',
    'child SIGCONT',
  ])
  expect(child).not.toBe(shell)
})

const many = (count: number): number[] => Array.from({ length: count }, (_, n) => n + 1)

it('of very many processes 2,000 are asked, each once', async () => {
  const sent = new Map<string, number>()
  await askAllToEnd(
    async () => many(2001),
    (_pid, signal) => void sent.set(signal, (sent.get(signal) ?? 0) + 1),
  )
  expect([...sent]).toEqual([
    ['SIGSTOP', 2000],
    ['SIGTERM', 2000],
    ['SIGCONT', 2000],
  ])
})

it('what comes faster than it is found is looked for twenty times', async () => {
  let looks = 0
  const stopped: number[] = []
  await askAllToEnd(
    async () => many((looks += 1)),
    (pid, signal) => void (signal === 'SIGSTOP' && stopped.push(pid)),
  )
  expect([looks, stopped]).toEqual([20, many(20)])
})

it('what was stopped goes on, also when the search fails', async () => {
  const looks = [[1, 2]]
  const sent: unknown[] = []
  const find = async (): Promise<number[]> => {
    const found = looks.shift()
    if (found === undefined) throw new Error('no table')
    return found
  }
  const asked = askAllToEnd(find, (pid, signal) => void sent.push(`${signal} ${pid}`))
  await expect(asked).rejects.toThrow('no table')
  expect(sent).toEqual(['SIGSTOP 1', 'SIGSTOP 2', 'SIGCONT 1', 'SIGCONT 2'])
})
