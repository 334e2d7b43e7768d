import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { logMessages, type WorkspaceRef } from '@helix-agents/core/provider'
import { LocalBashWorkspaceProvider } from '@helix-agents/workspace-local-bash'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { findProgram } from '../src/shell/find-program.ts'
import { requireBubblewrap } from '../src/shell/require-bubblewrap.ts'
import { SESSION, TestHost, text } from './open-workspace.ts'

let host: TestHost
beforeEach(() => {
  host = new TestHost()
})
afterEach(async () => host.dispose())

describe('open', () => {
  it('refuses Windows in these words', async () => {
    const windows = new TestHost({ platform: 'win32' })
    await expect(windows.open()).rejects.toThrow(
      'LocalBashWorkspaceProvider: Windows is not supported. Use WSL and run the agent inside it.',
    )
    await windows.dispose()
  })
  it.each(['Bun', 'Deno'])(
    'rejects commands in %s, where their output would be lost',
    async (name) => {
      vi.stubGlobal(name, {})
      const open = (capabilities: object) =>
        host.provider.open({ kind: 'local-bash' }, SESSION, { ...host.openOptions, capabilities })
      const sentence = `LocalBashWorkspaceProvider: commands run in Node only, and this is ${name}`
      for (const capabilities of [{ shell: {} }, { fs: {}, code: {} }]) {
        await expect(open(capabilities)).rejects.toThrow(sentence)
      }
      expect(readdirSync(host.tmpdirRoot)).toEqual([])
      const { ws } = await open({ fs: {} })
      await ws.close()
    },
  )
  it('makes a directory that only the user can enter, the marker out of the agent’s reach', async () => {
    const { ws } = await host.open()
    const path = join(host.tmpdirRoot, ws.id)
    expect(ws.id).toMatch(/^helix-ws-[A-Za-z0-9]{6}$/)
    expect(statSync(path).mode & 0o777).toBe(0o700)
    expect(readdirSync(path).toSorted()).toEqual(['owner.json', 'root', 'scratch', 'tmp'])
    expect(readFileSync(join(path, 'owner.json'), 'utf8')).not.toContain(SESSION.sessionId)
    expect(await ws.fs.ls('/')).toEqual([])
    await expect(ws.fs.readFile('/../owner.json')).rejects.toMatchObject({ code: 'path-escape' })
  })
  it('warns once of missing isolation, and shows it', async () => {
    const { ws } = await host.open()
    await host.open()
    expect(host.logger.with(logMessages.noIsolation).length).toBe(1)
    expect(ws.isolation).toBe('none')
  })
  it.each([
    [{ isolation: 'docker' }, 'isolation'],
    [{ env: { 'A=B': 'x' } }, 'env'],
    [{ env: { A: 'x\0y' } }, 'env.A'],
    [{ env: { A: 1 } }, 'env.A'],
    [{ timeout: 1 }, 'timeout'],
  ])('refuses the config %j by field', (config, field) => {
    const parse = (): unknown => host.provider.parseConfig({ kind: 'local-bash', ...config })
    expect(parse).toThrow(field)
    expect(parse).toThrow(expect.objectContaining({ code: 'config-invalid', transient: false }))
  })
  it('makes no more than the allowed number at once', async () => {
    const limited = new TestHost({ maxGlobalConcurrentOpens: 1 })
    const opened = await Promise.all([limited.open(), limited.open(), limited.open()])
    expect(new Set(opened.map(({ ws }) => ws.id)).size).toBe(3)
    await limited.dispose()
  })
})

describe('the environment of commands', () => {
  const planted = { HELIX_TEST_TOKEN: 'secret-1', AWS_SECRET_ACCESS_KEY: 'secret-2' }
  beforeEach(() => void Object.assign(process.env, planted))
  afterEach(() => {
    for (const name of Object.keys(planted)) delete process.env[name]
  })

  it('holds what is allowed and nothing else', async () => {
    const { ws } = await host.open()
    const { stdout } = await ws.shell.run(['env'])
    const names = text(stdout)
      .trim()
      .split('\n')
      .map((line) => line.split('=')[0]!)
    const allowed = /^(PATH|HOME|TMPDIR|PWD|LANG|LC_.*|TZ|HELIX_WS_PROCESS)$/
    expect(names.filter((name) => !allowed.test(name))).toEqual([])
    const values = await ws.shell.run('echo "$HOME $TMPDIR"; touch "$TMPDIR/x"; cd; pwd')
    const directory = join(host.tmpdirRoot, ws.id)
    expect(text(values.stdout)).toBe(`${directory}/root ${directory}/tmp\n${directory}/root\n`)
  })
  it('passes on what the operator lists, and what config and call add', async () => {
    const own = new TestHost({ passEnv: ['PATH', 'HELIX_TEST_*'] })
    const { ws } = await own.open({ env: { OF_CONFIG: 'c', BOTH: 'config' } })
    const { stdout } = await ws.shell.run('echo $HELIX_TEST_TOKEN $OF_CONFIG $BOTH $OF_CALL', {
      env: { OF_CALL: 'd', BOTH: 'call', HELIX_WS_PROCESS: 'forged' },
    })
    expect(text(stdout)).toBe('secret-1 c call d\n')
    const marker = await ws.shell.run('echo $HELIX_WS_PROCESS', { env: { HELIX_WS_PROCESS: 'x' } })
    expect(text(marker.stdout)).toMatch(new RegExp(`^${ws.id}:`))
    await own.dispose()
  })
})

describe('resolve', () => {
  it('refuses the ref of another session', async () => {
    const { ws, opened } = await host.open()
    await ws.detach()
    await expect(host.resolve(opened.ref, 'session-2')).rejects.toMatchObject({
      code: 'ref-invalid',
    })
  })
  it('reads the refs of every version so far', async () => {
    const { ws, opened } = await host.open()
    const corpus: WorkspaceRef[] = [
      {
        providerId: 'local-bash',
        schemaVersion: 1,
        capabilities: { fs: true, shell: true },
        ref: { directory: ws.id, isolation: 'none' },
      },
      {
        providerId: 'local-bash',
        schemaVersion: 1,
        capabilities: { fs: true, shell: true, code: true },
        ref: { directory: ws.id, isolation: 'none' },
      },
      {
        providerId: 'local-bash',
        schemaVersion: 1,
        capabilities: { fs: true, shell: true, code: true, snapshot: true, branch: true },
        ref: { directory: ws.id, isolation: 'none' },
      },
    ]
    expect(opened.ref).toEqual(corpus.at(-1))
    for (const ref of corpus) expect((await host.resolve(ref)).ws.id).toBe(ws.id)
  })
  it.each(['../x', 'helix-ws-', 'helix-ws-a/../b', '/etc', 'helix-ws-abcdef/..', 'other-abcdef'])(
    'refuses the directory %s',
    async (directory) => {
      const { opened } = await host.open()
      const ref = { ...opened.ref, ref: { directory, isolation: 'none' } }
      await expect(host.resolve(ref)).rejects.toMatchObject({ code: 'ref-invalid' })
    },
  )
  it('calls a missing directory lost', async () => {
    const { ws, opened } = await host.open()
    await ws.close()
    await expect(host.resolve(opened.ref)).rejects.toMatchObject({ code: 'lost' })
  })
})

describe('close', () => {
  it('removes the directory, also when commands took permissions away', async () => {
    const { ws } = await host.open()
    await ws.shell.run('mkdir -p locked/in; touch locked/in/f; chmod 0 locked/in locked')
    await ws.close()
    await ws.close()
    expect(readdirSync(host.tmpdirRoot)).toEqual([])
  })
  it('logs a failure with the path and the processes that hold it', async () => {
    const { ws } = await host.open()
    const path = join(host.tmpdirRoot, ws.id)
    const mounted = join(path, 'root', 'mounted')
    await ws.fs.mkdir('/mounted')
    // A mount is the one thing that even the owner cannot remove.
    const canMount = tryRun('mount', ['-t', 'tmpfs', 'none', mounted])
    await ws.close()
    const lines = host.logger.with(logMessages.tmpdirCloseFailed)
    if (canMount) execFileSync('umount', [mounted])
    expect(lines.map((line) => [line.level, line.fields.path])).toEqual(
      canMount ? [['error', path]] : [],
    )
  })
})

function tryRun(file: string, args: readonly string[]): boolean {
  try {
    execFileSync(file, args, { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

const hasBubblewrap = findProgram('bwrap') !== undefined

describe.skipIf(!hasBubblewrap)(
  `bubblewrap${hasBubblewrap ? '' : ' (skipped: bwrap is not installed)'}`,
  () => {
    it('shows the workspace, and nothing else of the host', async () => {
      const { ws } = await host.open({ isolation: 'bubblewrap' })
      expect([ws.isolation, ws.shellRoot]).toEqual(['process', '/workspace'])
      const run = async (command: string): Promise<string> =>
        text((await ws.shell.run(command)).stdout).trim()
      expect(await run('pwd; echo $HOME')).toBe('/workspace\n/workspace')
      expect(await run(`ls ${host.tmpdirRoot} /home /root /work /etc/shadow 2>/dev/null`)).toBe('')
      expect(await run('touch /usr/x 2>/dev/null || echo read-only')).toBe('read-only')
      expect(await run('ls /sys/class/net 2>/dev/null; cat /proc/net/dev | grep -c eth')).toBe('0')
      expect(await run('ls /proc | grep -c "^[0-9]"')).toMatch(/^[1-6]$/)
      expect(await run('echo a > a; ln -s /workspace/a link')).toBe('')
      expect(text(await ws.fs.readFile('/link'))).toBe('a\n')
    })
    it('stays what it was when it is resolved', async () => {
      const { ws, opened } = await host.open({ isolation: 'bubblewrap' })
      await ws.detach()
      const other = new LocalBashWorkspaceProvider({ ...host.options, isolation: 'none' })
      const again = await other.resolve(opened.ref, host.resolveOptions())
      expect(again.ws.isolation).toBe('process')
      await again.ws.close()
    })
  },
)

it('bubblewrap without bwrap is a config error that says so', () => {
  expect(() => requireBubblewrap(() => undefined)).toThrow(
    expect.objectContaining({
      code: 'config-invalid',
      message: expect.stringContaining('bwrap'),
      hint: "An operator must install bubblewrap, or choose isolation 'none'.",
    }),
  )
})

it.each(['/proc/no/such', '/proc/self/no', '/dev/null/no'])(
  'a directory for all workspaces that cannot be made is refused: %s',
  async (tmpdirRoot) => {
    const nowhere = new TestHost({ tmpdirRoot })
    await expect(nowhere.open()).rejects.toMatchObject({
      code: 'provider-failed',
      transient: false,
    })
    await nowhere.dispose()
  },
)
