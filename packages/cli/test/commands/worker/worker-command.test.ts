import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, test, vi } from 'vitest'
import { ended, startHelix } from '../../child-process.ts'
import { TestHost } from '../../test-host.ts'
import { serveHealth } from '../../../src/commands/worker/health-server.ts'

const SAMPLE = join(import.meta.dirname, 'sample-worker.ts')

test('a signal drains the worker, for as long as --drain says, and closes what is behind it', async () => {
  const host = new TestHost()
  const calls: unknown[] = []
  const worker = {
    start: async () => void calls.push('start'),
    stop: async (options: unknown) => void calls.push(options),
    health: () => ({ state: 'running', machine: 'm', concurrency: 3 }),
  }
  host.module = { openWorker: () => ({ worker, close: () => calls.push('close') }) }
  const { code, err } = await host.run(['worker', SAMPLE, '--drain', '7s'])
  expect([code, host.opened]).toEqual([0, [SAMPLE]])
  expect(calls).toEqual(['start', { timeoutMs: 7000 }, 'close'])
  expect(err).toContain('worker on m, 3 turns at a time')
  expect(err).toContain('SIGTERM: draining')
})

test.each([
  { file: 'no.ts', module: {}, code: 3, said: 'there is no file no.ts' },
  { file: SAMPLE, module: {}, code: 2, said: 'does not export a function openWorker' },
  { file: SAMPLE, module: { openWorker: () => 1 }, code: 2, said: 'must give { worker, close }' },
])('a module that cannot be used: $said', async ({ file, module, code, said }) => {
  const host = new TestHost()
  host.module = module
  const { err, ...ran } = await host.run(['worker', file])
  expect(ran).toMatchObject({ code })
  expect(err).toContain(said)
})

test('health is 200 while the worker runs, else 503', async () => {
  let state = 'running'
  const server = await serveHealth(0, {
    health: () => ({ state, sessions: ['s'] }),
    metrics: () => 'helix_worker_sessions 1\n',
  })
  const get = (path: string): Promise<Response> => fetch(`http://localhost:${server.port}${path}`)
  const running = await get('/healthz')
  expect([running.status, await running.json()]).toEqual([200, { state, sessions: ['s'] }])
  state = 'draining'
  expect((await get('/healthz')).status).toBe(503)
  expect((await get('/other')).status).toBe(404)
  const metrics = await get('/metrics')
  expect(metrics.headers.get('content-type')).toBe('text/plain; version=0.0.4')
  expect(await metrics.text()).toBe('helix_worker_sessions 1\n')
  await expect(serveHealth(server.port, { health: () => ({ state }) })).rejects.toThrow(
    'cannot be used',
  )
  await server.close()
})

test('a process of `helix worker` ends with 0 on SIGTERM', async () => {
  const child = startHelix(['worker', SAMPLE, '--port', '0'])
  const out = text(child.stdout)
  const [line] = (await once(child.stderr, 'data')) as [Buffer]
  expect(line.toString()).toContain('health on port')
  child.kill('SIGTERM')
  expect(await ended(child)).toEqual({ code: 0, signal: null })
  expect(await out).toBe('closed after stopped\n')
})

const healthy = () => ({ state: 'running', machine: 'm', concurrency: 1 })

/** A worker that tells what is done with it; what it waits for is given back by a test. */
function slowWorker(host: TestHost, failing?: string) {
  const calls: string[] = []
  const gates = new Map<string, () => void>()
  const step = (name: string) => async (): Promise<void> => {
    calls.push(name)
    if (name === failing) throw new Error(`cannot ${name}`)
    await new Promise<void>((resolve) => gates.set(name, resolve))
  }
  const worker = { start: step('start'), stop: step('stop'), health: healthy }
  host.module = { openWorker: () => ({ worker, close: step('close') }) }
  /** Waits until a step has begun, and lets it end. */
  const finish = async (name: string): Promise<void> => {
    await vi.waitFor(() => expect(gates.has(name)).toBe(true), { interval: 1 })
    gates.get(name)?.()
  }
  return { calls, finish }
}

test('each step waits for the one before', async () => {
  const host = new TestHost()
  const { calls, finish } = slowWorker(host)
  const ran = host.run(['worker', SAMPLE])
  await finish('start')
  await vi.waitFor(() => expect(calls).toEqual(['start', 'stop']), { interval: 1 })
  await finish('stop')
  await finish('close')
  const { code, err } = await ran
  expect(code).toBe(0)
  expect(calls).toEqual(['start', 'stop', 'close'])
  expect(err.split('\n').filter((line) => line !== '')).toEqual([
    'worker on m, 1 turns at a time',
    'SIGTERM: draining',
    'drained',
  ])
})

test.each(['start', 'stop', 'close'])(
  'a worker that cannot %s fails, and is closed',
  async (failing) => {
    const host = new TestHost()
    const { calls, finish } = slowWorker(host, failing)
    const ran = host.run(['worker', SAMPLE])
    for (const name of ['start', 'stop', 'close']) {
      if (name === failing && name !== 'close') {
        await finish('close')
        break
      }
      if (name !== failing) await finish(name)
    }
    const { code, err } = await ran
    expect(code).not.toBe(0)
    expect(err).toContain(`cannot ${failing}`)
    expect(calls.at(-1)).toBe('close')
  },
)
