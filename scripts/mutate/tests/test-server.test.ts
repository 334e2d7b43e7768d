import { afterEach, expect, test } from 'vitest'
import { TestServer } from './test-server.ts'

let stop = new AbortController()
afterEach(() => {
  stop.abort()
  stop = new AbortController()
})

const request = { mutant: 1, tests: [], processes: 'shared', limitMs: 600_000 } as const

/** A server that is another program. */
function serverOf(program: string): TestServer {
  return new TestServer({
    folder: import.meta.dirname,
    files: [],
    confine: () => [process.execPath, '-e', program],
    signal: stop.signal,
  })
}

const answering = `
  process.send('ready')
  process.on('message', () => process.send({ files: [], errors: [String(process.pid)] }))`

test('one server answers all requests', async () => {
  const server = serverOf(answering)
  const first = await server.run(request)
  expect(first).toMatchObject({ files: [] })
  expect(await server.run(request)).toEqual(first)
})

test('a run that takes too long is killed, and the next one has a new server', async () => {
  const silentAtFirst = `
    process.send('ready')
    process.on('message', ({ mutant }) => {
      if (mutant === 2) process.send({ files: [], errors: [] })
    })`
  const server = serverOf(silentAtFirst)
  expect(await server.run({ ...request, limitMs: 1 }, 0)).toBe('timed-out')
  expect(await server.run({ ...request, mutant: 2 })).toEqual({ files: [], errors: [] })
})

test('a server that ends without an answer has crashed', async () => {
  const server = serverOf("process.send('ready'); process.on('message', () => process.exit(1))")
  expect(await server.run(request)).toBe('crashed')
  expect(await server.run(request)).toBe('crashed')
})

test('one that cannot start says why', async () => {
  const server = serverOf("console.error('no such file'); process.exitCode = 1")
  await expect(server.run(request)).rejects.toThrow('the tests cannot be started: no such file')
})

test('stopping ends a run', async () => {
  const run = serverOf("process.send('ready'); process.on('message', () => {})").run(request)
  stop.abort(new Error('stopped'))
  await expect(run).rejects.toThrow('stopped')
})
