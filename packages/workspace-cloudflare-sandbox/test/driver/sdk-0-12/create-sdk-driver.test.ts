// How the driver reaches its sandbox, and what it hands on to its parts.
import { describe, expect, it, vi } from 'vitest'
import { createSdkDriver } from '../../../src/driver/sdk-0-12/create-sdk-driver.ts'
import type { SandboxNamespace } from '../../../src/driver/sdk-0-12/stub.ts'
import { binding, command, connected, container, settings } from './driver-on.ts'

/** The package loads in workerd alone. */
const installed = vi.hoisted(() => ({ made: [] as unknown[][], stub: {}, isLoaded: false }))
vi.mock('@cloudflare/sandbox', () => {
  installed.isLoaded = true
  return {
    getSandbox: (...given: unknown[]) => {
      installed.made.push(given)
      return installed.stub
    },
    SandboxClient: true,
    ContainerUnavailableError: true,
  }
})

describe('a driver of a binding', () => {
  it('makes the sandbox with its settings, without a session of its own', async () => {
    const on = container()
    const { getSandbox, made, namespace } = binding(on.stub)
    const sandboxOptions = { keepAlive: true }
    const source = { namespace, getSandbox, sandboxOptions }
    const driver = createSdkDriver({ source, line: '0.12' })({ ...settings, sleepAfter: '5m' })
    expect(made).toEqual([])
    await driver.exec(['true'], command)
    await driver.exec(['true'], command)
    const options = {
      keepAlive: true,
      sleepAfter: '5m',
      transport: 'rpc',
      enableDefaultSession: false,
    }
    expect(made).toEqual([[namespace, 'sb-1', options]])
    expect(installed.isLoaded).toBe(false)
  })
  it('of the next line names neither transport nor session', async () => {
    const on = container({ exec: () => Promise.reject(new Error('odd')) })
    const { getSandbox, made, namespace } = binding(on.stub)
    const driver = createSdkDriver({ source: { namespace, getSandbox }, line: '0.13' })(settings)
    await expect(driver.exec(['true'], command)).rejects.toMatchObject({ code: 'failed' })
    expect(made).toEqual([[namespace, 'sb-1', {}]])
    expect(on.asked[0]?.[1]).toEqual(['/bin/bash', '-c', expect.any(String)])
  })
  it('asks for the identity without making the sandbox', async () => {
    const on = container()
    const { getSandbox, made, named, namespace } = binding(on.stub)
    const driver = createSdkDriver({ source: { namespace, getSandbox }, line: '0.12' })(settings)
    expect(await driver.identity()).toEqual({ placement: 'p1', running: true })
    expect([made, named]).toEqual([[], ['id of sb-1']])
  })
  it('that is missing says so when it is used', () => {
    const source = { namespace: undefined as unknown as SandboxNamespace }
    const create = createSdkDriver({ source })
    expect(() => create(settings)).toThrow(
      expect.objectContaining({
        code: 'config-invalid',
        message: expect.stringContaining(
          'the binding of the sandboxes (source.namespace) is missing',
        ),
        hint: 'An operator must add what is missing to the Worker.',
      }),
    )
  })
})

describe('what is installed', () => {
  it('says what is not given', async () => {
    const on = container()
    installed.stub = on.stub
    const { getSandbox, made, namespace } = binding(on.stub)
    const options = { transport: 'rpc', enableDefaultSession: false }
    for (const [given, ofInstalled, ofGiven] of [
      [{ source: { namespace } }, [[namespace, 'sb-1', options]], []],
      [{ source: { namespace }, line: '0.13' }, [[namespace, 'sb-1', {}]], []],
      [{ source: { namespace, getSandbox } }, [], [[namespace, 'sb-1', options]]],
    ] as const) {
      installed.made.length = 0
      made.length = 0
      await createSdkDriver(given)(settings).mount({ bucket: 'B', path: '/mnt' })
      expect([installed.made, made]).toEqual([ofInstalled, ofGiven])
    }
  })
})

describe('a driver of a connection', () => {
  it('connects with the first call, and again when it was disconnected', async () => {
    const on = container()
    const { connects, driver } = connected(on)
    expect([driver.line, driver.sandboxId]).toEqual(['0.12', 'sb-1'])
    expect(connects).toEqual([])
    await driver.exec(['true'], command)
    await driver.exec(['true'], command)
    expect(connects).toEqual(['sb-1'])
    await driver.disconnect()
    await driver.exec(['true'], command)
    expect(connects).toHaveLength(2)
  })
  it('is of the line 0.12 where none is named', async () => {
    const on = container()
    await connected(on, {}, { transport: 'http' }).driver.exec(['true'], command)
    const next = connected(on, { line: '0.13' }, { transport: 'http' }).driver
    await expect(next.exec(['true'], command)).rejects.toMatchObject({ code: 'not-configured' })
    const adapted = connected(container({ exec: () => Promise.reject(new Error('odd')) }), {
      line: '0.13',
    }).driver
    await expect(adapted.exec(['true'], command)).rejects.toMatchObject({ code: 'failed' })
  })
  it('asks for the identity by its calls', async () => {
    const on = container()
    expect(await connected(on).driver.identity()).toEqual({ placement: 'p1', running: true })
    expect(on.asked.map(([name]) => String(name)).toSorted()).toEqual([
      'getContainerPlacementId',
      'getState',
    ])
  })
})

describe('the parts of a driver', () => {
  it('share the epoch, the variables and the nonces', async () => {
    const on = container()
    let nonces = 0
    const createNonce = (): string => `${(nonces += 1)}`.padStart(4, '0')
    const { driver } = connected(on, { createNonce, scratch: '/own' })
    const { signal } = new AbortController()
    const ensured = { outcome: 'cold', epoch: 'e7', placement: 'p1' }
    expect(await driver.ensure({ knownEpoch: 'e6', signal })).toEqual(ensured)
    await driver.exec(['true'], { ...command, env: { B: 'own' } })
    expect(on.scripts[1]).toContain('n=0005 d=/own hx_slot=s-0001-0 ')
    expect(on.scripts[1]).toContain('hx_want=e7')
    expect(on.scripts[1]).toContain("hx_variables=('A=all' 'B=own' 'HELIX_WS_PROCESS=0005')")
    await driver.processes.list().catch(() => {})
    expect(on.scripts[2]).toContain('d=/own hx_want=e7')
    await driver.code.runOnce('python', '1', { ...command, timeoutMs: 7 })
    expect(on.scripts[3]).toContain("'A=all' 'B=all'")
    await driver.processes.start(['true'], { cwd: '/' }).catch(() => {})
    expect(on.scripts[4]).toContain("('A=all' 'B=all')")
  })
  it('have a directory and random nonces where none are given', async () => {
    const on = container()
    const { driver } = connected(on)
    await driver.exec(['true'], command)
    await driver.exec(['true'], command)
    expect(on.scripts[0]).toContain(' d=/var/tmp/.helix ')
    const marks = on.scripts.map((script) => /^n=([0-9a-f]{16}) /m.exec(script)?.[1])
    expect(new Set(marks).size).toBe(2)
    expect(marks).not.toContain(undefined)
  })
  it.each([
    ['rpc', 'none'],
    ['http', 'base64'],
    ['websocket', 'base64'],
  ] as const)('read large files over %s as %s', async (transport, encoding) => {
    const on = container()
    const { driver } = connected(on, {}, { transport })
    expect(new TextDecoder().decode(await driver.files.read('/workspace/f'))).toBe('hello')
    expect(on.asked.at(-1)).toEqual(['readFile', '/workspace/f', { encoding }])
  })
  it('mount and destroy', async () => {
    const states = ['healthy', 'stopped']
    const on = container({ getState: () => ({ status: states.shift() }) })
    const { driver } = connected(on)
    await driver.mount({ bucket: 'B', path: '/mnt' })
    expect(await driver.destroy()).toBe('destroyed')
    expect(on.asked.map(([name]) => name)).toEqual([
      'mountBucket',
      'getState',
      'destroy',
      'getState',
    ])
  })
})

describe('snapshots of a driver', () => {
  it('are there where backups are wanted', () => {
    const on = container()
    expect(connected(on).driver).not.toHaveProperty('snapshots')
    expect(connected(on, {}, { backups: { local: false } }).driver.snapshots).toBeDefined()
  })
  it.each([true, false])('in a simulated bucket: %s', async (local) => {
    const on = container({
      exec: (script: string) => {
        const nonce = /printf '\\n%%(\w+) /.exec(script)?.[1] ?? ''
        return {
          stdout: `${btoa('/workspace')}\n%${nonce} measured 1 2 2\n`,
          stderr: '',
          exitCode: 0,
        }
      },
      createBackup: () => ({ id: 'b1' }),
    })
    const { driver } = connected(on, {}, { backups: { local } })
    const taken = await driver.snapshots?.take('/workspace', { ttlSeconds: 100 })
    expect(taken).toMatchObject({ id: 'b1', local, members: 1, totalBytes: 2 })
    const request = { dir: '/workspace', ttl: 100, ...(local && { localBucket: true }) }
    expect(on.asked.at(-1)).toEqual(['createBackup', request])
  })
  it('are looked up in the bucket where there is one', async () => {
    const got: string[] = []
    const get = async (key: string): Promise<object> => {
      got.push(key)
      return { text: async () => '{"name":"owner"}' }
    }
    const backupBucket = { get } as unknown as R2Bucket
    const snapshot = { id: 'b1', directory: '/workspace', expiresAtMs: 5, local: false }
    const backups = { local: false }
    const { driver } = connected(container(), { backupBucket }, { backups })
    expect(await driver.snapshots?.nameOf?.(snapshot)).toBe('owner')
    expect(got).toEqual(['backups/b1/meta.json'])
    const bare = connected(container(), {}, { backups }).driver
    expect(await bare.snapshots?.nameOf?.(snapshot)).toBeUndefined()
  })
})
