import { Worker } from 'node:worker_threads'
import { afterEach, expect, test, vi } from 'vitest'
import { ScriptThread } from '../src/node/script-thread.ts'
import { THREAD_LIMITS } from '../src/options.ts'
import type { ScriptHost } from '../src/script/script.ts'

afterEach(() => void vi.restoreAllMocks())

const script = {
  source: 'echo never',
  cwd: '/workspace',
  env: {},
  limits: THREAD_LIMITS,
  hostCommands: [],
  allowedUrls: [],
  metadata: [],
}
const unreachable = (): never => {
  throw new Error('the script was ended before it began')
}
const host: ScriptHost = {
  get files() {
    return unreachable()
  },
  write: unreachable,
  runCommand: unreachable,
  turn: unreachable,
}

test('a thread is not ended while it starts', { timeout: 60_000 }, async () => {
  const terminate = vi.spyOn(Worker.prototype, 'terminate')
  const thread = new ScriptThread()
  const ended = thread.end()
  expect(terminate).not.toHaveBeenCalled()
  await ended
  expect(terminate).toHaveBeenCalledTimes(1)
})

test('what is aborted before its thread is ready runs nothing, and the thread lives', async () => {
  const thread = new ScriptThread()
  const end = await thread.run(script, host, AbortSignal.abort())
  expect([end.exitCode, thread.isAlive]).toEqual([137, true])
  await thread.end()
}, 60_000)
