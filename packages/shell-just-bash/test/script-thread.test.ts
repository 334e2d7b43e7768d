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
  const ended: number[] = []
  // oxlint-disable-next-line typescript/unbound-method -- called with its worker below
  const { terminate } = Worker.prototype
  vi.spyOn(Worker.prototype, 'terminate').mockImplementation(function (this: Worker) {
    ended.push(this.threadId)
    return Reflect.apply(terminate, this, [])
  })
  // Threads of other tests may end meanwhile: those before this one.
  const { threadId } = new Worker('', { eval: true })
  const thread = new ScriptThread()
  const end = thread.end()
  const own = (): number => ended.filter((id) => id > threadId).length
  expect(own()).toBe(0)
  await end
  expect(own()).toBe(1)
})

test('what is aborted before its thread is ready runs nothing, and the thread lives', async () => {
  const thread = new ScriptThread()
  const end = await thread.run(script, host, AbortSignal.abort())
  expect([end.exitCode, thread.isAlive]).toEqual([137, true])
  await thread.end()
}, 60_000)
