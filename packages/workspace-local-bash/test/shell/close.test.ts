// Which processes the close of a workspace looks for that has started none itself.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { afterEach, beforeEach, expect, it, onTestFinished } from 'vitest'
import { probeNamespace } from '../../src/shell/namespace/namespace.ts'
import { MARKER_VARIABLE } from '../../src/shell/processes/process-table.ts'
import { TestHost } from '../open-workspace.ts'

const { namespace } = await probeNamespace()

let host: TestHost
let strangers: ChildProcess[]
beforeEach(() => {
  host = new TestHost({ containment: 'scan' })
  strangers = []
})
afterEach(async () => {
  for (const stranger of strangers) stranger.kill('SIGKILL')
  await host.dispose()
})

/** A process that bears the mark of a workspace, and that none of its handles knows. */
async function startMarked(id: string): Promise<ChildProcess> {
  const env = { ...process.env, [MARKER_VARIABLE]: `${id}:another` }
  const stranger = spawn('sleep', ['1000'], { env, stdio: 'ignore' })
  strangers.push(stranger)
  await once(stranger, 'spawn')
  return stranger
}

it('none, when the workspace was made by this handle and nobody took it over', async () => {
  const { ws } = await host.open()
  const stranger = await startMarked(ws.id)
  await ws.close()
  expect([stranger.exitCode, stranger.signalCode]).toEqual([null, null])
  expect(stranger.kill(0)).toBe(true)
})

it.skipIf(namespace === undefined)(
  'none, when each command had a namespace that has ended',
  async () => {
    const own = new TestHost({ containment: 'namespace' })
    onTestFinished(() => own.dispose())
    const { ws } = await own.open()
    await ws.shell.run('sleep 1000 & true')
    await ws.shell.run('sleep 1000', { timeoutMs: 1 })
    await ws.shell.start('sleep 1000')
    const stranger = await startMarked(ws.id)
    await ws.close()
    expect([stranger.exitCode, stranger.signalCode]).toEqual([null, null])
    expect(stranger.kill(0)).toBe(true)
  },
)

it('all, when it has started a command', async () => {
  const { ws } = await host.open()
  await ws.shell.run('true')
  const stranger = await startMarked(ws.id)
  const ended = once(stranger, 'exit')
  await ws.close()
  expect(await ended).toEqual([null, 'SIGKILL'])
})

it('all, when it was there before', async () => {
  const { ws, opened } = await host.open()
  await ws.detach()
  const stranger = await startMarked(ws.id)
  const ended = once(stranger, 'exit')
  const again = await host.resolve(opened.ref)
  await again.ws.close()
  expect(await ended).toEqual([null, 'SIGKILL'])
})

it('all, when somebody took it over meanwhile', async () => {
  const { ws, opened } = await host.open()
  await host.resolve(opened.ref)
  const stranger = await startMarked(ws.id)
  const ended = once(stranger, 'exit')
  await ws.close()
  expect(await ended).toEqual([null, 'SIGKILL'])
})
