// Which routes of the container server of Cloudflare there are here: the score of the double.
import { expect, it } from 'vitest'
import { failure } from './support/client.ts'
import { ALONE, describeServer } from './support/fixture.ts'
import { statusOf } from './support/private-server.ts'

const OFFERED: Readonly<Record<string, readonly unknown[]>> = {
  'utils.ping': [],
  'utils.getVersion': [],
  'utils.getCommands': [],
  'utils.createSession': [{ id: 'route' }],
  'utils.listSessions': [],
  'utils.deleteSession': ['route'],
  'commands.execute': ['true', ALONE],
  'commands.executeStream': ['true', ALONE],
  'files.writeFile': ['/tmp/a', 'x', ALONE],
  'files.readFile': ['/tmp/a', ALONE],
  'files.readFileStream': ['/tmp/a', ALONE],
  'files.exists': ['/tmp/a', ALONE],
  'files.renameFile': ['/tmp/a', '/tmp/b', ALONE],
  'files.moveFile': ['/tmp/b', '/tmp/c', ALONE],
  'files.deleteFile': ['/tmp/c', ALONE],
  'files.mkdir': ['/tmp/d', ALONE],
  'files.listFiles': ['/tmp', ALONE],
  'processes.startProcess': ['sleep 100', 'other', { processId: 'route' }],
  'processes.listProcesses': [],
  'processes.getProcess': ['route'],
  'processes.getProcessLogs': ['route'],
  'processes.killProcess': ['route'],
  'processes.killAllProcesses': [],
  'interpreter.createCodeContext': [{ language: 'javascript' }],
  'interpreter.listCodeContexts': [],
  'interpreter.runCodeStream': [undefined, '1', 'javascript'],
  'backup.createArchive': ['/workspace', '/var/backups/route', ALONE],
  'backup.restoreArchive': ['/workspace', '/var/backups/route', ALONE],
  'watch.checkChanges': [{ path: '/workspace' }],
}

const REFUSED: Readonly<Record<string, readonly unknown[]>> = {
  'git.checkout': ['https://example.com/a.git', ALONE],
  'tunnels.runQuickTunnel': ['a', 8080],
  'tunnels.runNamedTunnel': ['a', 8080],
  'tunnels.ensureTunnelRun': ['a'],
}

const NOT_THERE = ['/api/ping', '/api/execute', '/api/pty', '/api/terminal']

describeServer('routes', (fixture) => {
  const call = (route: string, given: readonly unknown[]): PromiseLike<unknown> => {
    const [target = '', method = ''] = route.split('.')
    return fixture.client.root[target][method](...given)
  }

  it.each(Object.entries(OFFERED))('offers %s', async (route, given) => {
    const [outcome] = await Promise.allSettled([call(route, given)])
    expect(outcome).toMatchObject({ status: 'fulfilled' })
  })

  it.each(Object.entries(REFUSED))('refuses %s, and says so', async (route, given) => {
    const { code, message } = await failure(call(route, given))
    expect([code, message]).toEqual([
      expect.stringMatching(/^(INTERNAL_ERROR|GIT_OPERATION_FAILED)$/),
      expect.stringContaining('not supported by the test bed'),
    ])
  })

  it.each(NOT_THERE)('answers %s, of another transport, with 501', async (path) => {
    expect(await statusOf(fixture.server.socketPath, path)).toBe(501)
  })
})
