import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, test, vi } from 'vitest'
import { runProgram } from './run-tests.ts'

const folder = mkdtempSync(join(tmpdir(), 'helix-runs-'))
afterAll(() => rmSync(folder, { recursive: true }))
afterEach(() => void vi.useRealTimers())

/** Starts a process of its own, writes its id to `file`, and waits for ever. */
const stuck = (file: string): string => `
  const child = require('node:child_process').spawn(process.execPath, ['-e', 'setInterval(() => {}, 1e6)'])
  require('node:fs').writeFileSync('${file}.part', String(child.pid))
  require('node:fs').renameSync('${file}.part', '${file}')
  setInterval(() => {}, 1e6)`

function run(program: string, timeoutMs = 20_000, signal = new AbortController().signal) {
  const place = { folder, temporary: folder, timeoutMs, signal }
  return runProgram(process.execPath, ['-e', program], place)
}

async function isGone(file: string): Promise<void> {
  const pid = Number(readFileSync(join(folder, file), 'utf8'))
  const stateOf = (): string => {
    const status = `/proc/${pid}/stat`
    return existsSync(status) ? (readFileSync(status, 'utf8').split(' ')[2] ?? '') : 'gone'
  }
  // What was killed may stay as a zombie where nothing collects the children of others.
  await expect.poll(stateOf).toMatch(/gone|Z|X/)
}

test('the exit code says whether the tests pass', async () => {
  expect(await run('')).toBe('passed')
  expect(await run('process.exit(3)')).toBe('failed')
  expect(await run('process.kill(process.pid, "SIGKILL")')).toBe('failed')
})

test('temporary files go to their own folder', async () => {
  const program = `process.exit(require('node:os').tmpdir() === ${JSON.stringify(folder)} ? 0 : 1)`
  expect(await run(program)).toBe('passed')
})

test('a program that cannot be started is an error', async () => {
  const signal = new AbortController().signal
  const place = { folder, temporary: folder, timeoutMs: 1000, signal }
  await expect(runProgram(join(folder, 'absent'), [], place)).rejects.toMatchObject({
    code: 'ENOENT',
  })
})

describe('what does not end is killed with all it has started', { timeout: 30_000 }, () => {
  test('when its time is up', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const ended = run(stuck('late'), 60_000)
    await expect.poll(() => existsSync(join(folder, 'late'))).toBe(true)
    vi.advanceTimersByTime(60_000)
    expect(await ended).toBe('timed-out')
    await isGone('late')
  })

  test('when the run is stopped', async () => {
    const stop = new AbortController()
    const reason = new Error('stopped')
    const ended = run(stuck('stopped'), 60_000, stop.signal)
    await expect.poll(() => existsSync(join(folder, 'stopped'))).toBe(true)
    stop.abort(reason)
    await expect(ended).rejects.toBe(reason)
    await isGone('stopped')
    await expect(run('', 1000, stop.signal)).rejects.toBe(reason)
  })
})
