import { spawn } from 'node:child_process'
import { afterEach, expect, test, vi } from 'vitest'
import { killWorkerOf } from './local-worker.ts'

afterEach(() => void vi.restoreAllMocks())

test.each([0, 1, -1, Number.NaN, process.pid, process.ppid])(
  'an id from a file that is not that of the Worker, %s, kills nothing',
  (pid) => {
    // Never the real one: a mistake here would end every process of the user.
    const kill = vi.spyOn(process, 'kill').mockReturnValue(true)
    expect(() => killWorkerOf('/no/such/folder', pid)).toThrow('left alone')
    expect(kill).not.toHaveBeenCalled()
  },
)

test('the group of the Worker itself is killed', async () => {
  const words = ['-c', 'read line', 'worker', '--persist-to=/the/folder']
  const child = spawn('/bin/bash', words, { detached: true, stdio: ['pipe', 'ignore', 'ignore'] })
  const ended = new Promise((resolve) => child.once('exit', (_, signal) => resolve(signal)))
  await new Promise((resolve) => child.once('spawn', resolve))
  killWorkerOf('/the/folder', child.pid!)
  expect(await ended).toBe('SIGKILL')
})
