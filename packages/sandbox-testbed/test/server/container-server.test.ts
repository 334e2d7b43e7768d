import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { connect, failure } from './support/client.ts'
import { ALONE, describeServer } from './support/fixture.ts'
import { startPrivateServer, statusOf } from './support/private-server.ts'

describeServer('container server', (fixture) => {
  it('answers any request on / as ready', async () => {
    expect(await statusOf(fixture.server.socketPath)).toBe(200)
  })

  it.each(['/api/execute', '/api/ping'])(
    'refuses %s, a route of another transport',
    async (path) => {
      expect(await statusOf(fixture.server.socketPath, path)).toBe(501)
    },
  )

  it('answers ping and tells the version whose protocol it speaks', async () => {
    const { utils } = fixture.client.root
    expect(await utils.ping()).toBe('healthy')
    expect(await utils.getVersion()).toBe('0.12.10')
  })

  it('lists the commands of the search path', async () => {
    const commands = await fixture.client.root.utils.getCommands()
    expect(commands).toEqual(expect.arrayContaining(['bash', 'ls', 'tar']))
  })

  it('ends the connection at a frame over 16 MiB and serves the next one', async () => {
    const client = await connect(fixture.server.socketPath)
    const closed = once(client.socket, 'close')
    const call = client.root.files.writeFile('/workspace/big', 'x'.repeat(17 << 20), ALONE)
    await failure(call)
    expect((await closed)[0]).toBe(1009)
    expect(await fixture.client.root.utils.ping()).toBe('healthy')
  })

  it('ends the connection instead of sending a reply over 32 MiB, with bounded memory', async () => {
    const client = await connect(fixture.server.socketPath)
    const closed = once(client.socket, 'close')
    await failure(client.root.commands.execute('head -c 200000000 /dev/zero', ALONE))
    expect((await closed)[0]).toBe(1009)
    const { stdout } = await fixture.client.root.commands.execute(
      'grep VmHWM "/proc/$PPID/status"',
      ALONE,
    )
    const kibibytes = Number(/\d+/.exec(stdout)?.[0])
    expect(kibibytes).toBeLessThan(400 * 1024)
  })

  it('refuses git and tunnels', async () => {
    const { git, tunnels } = fixture.client.root
    expect((await failure(git.checkout('https://example.com/a.git', ALONE))).code).toBe(
      'GIT_OPERATION_FAILED',
    )
    expect((await failure(tunnels.runQuickTunnel('a', 8080))).code).toBe('INTERNAL_ERROR')
    expect(await tunnels.listTunnels()).toEqual([])
  })

  it('ends with all its children at SIGTERM', async () => {
    const server = await startPrivateServer()
    const client = await connect(server.socketPath)
    const marker = `marker${process.pid}${Date.now()}`
    await client.root.processes.startProcess(`exec -a ${marker} sleep 1000`, 'session')
    const running = client.root.commands.execute(`exec -a ${marker} sleep 1000`, ALONE)
    const interrupted = failure(running)
    // The parent of a command is the server, which may or may not answer before it ends.
    const killing = Promise.allSettled([client.root.commands.execute('kill -TERM $PPID', ALONE)])
    await server.ended
    await Promise.all([interrupted, killing])
    await server.stop()
    // They were killed: the system takes a moment to end them.
    await expect.poll(() => runningWith(marker)).toEqual([])
  })
})

/** The processes of the host whose command line holds a text. */
function runningWith(text: string): string[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  return pids.filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').startsWith(text)
    } catch {
      return false
    }
  })
}
