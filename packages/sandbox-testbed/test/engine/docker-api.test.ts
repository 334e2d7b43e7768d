import { connect } from 'node:net'
import { mkdtemp, writeFile } from 'node:fs/promises'
import { chmodSync, mkdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { once } from 'node:events'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isContainerOf } from '../../src/engine/container/container-name.ts'
import { startLocalEngine, type LocalEngine } from '../../src/engine/local-engine.ts'
import { FaultSet } from '../../src/faults/fault-set.ts'
import { chooseIsolation } from '../../src/root/choose-isolation.ts'
import { prepareImage } from '../../src/root/image.ts'
import { removeTree } from '../../src/root/private-root.ts'
import { reasonToSkip } from '../fixture/call.ts'
import { callEngine } from './support.ts'

const skip = await reasonToSkip()
const SERVER = `
  import { createServer } from 'node:http'
  createServer((_, response) => response.end(process.env.GREETING))
    .listen(process.env.HELIX_TESTBED_SOCKET)
  process.on('SIGTERM', () => process.exit(7))`
const NAME = `workerd-testbed-Sandbox-${'a'.repeat(64)}`

describe.skipIf(skip)('the engine, in the order that workerd calls it', () => {
  let directory: string
  let engine: LocalEngine
  let sidecarPort = 0
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), `helix-testbed-${process.pid}-`))
    chmodSync(directory, 0o711)
    mkdirSync(join(directory, 'disks'), { mode: 0o711 })
    await writeFile(join(directory, 'server.mjs'), SERVER)
    engine = await startLocalEngine({
      isolation: await chooseIsolation('auto'),
      image: prepareImage(join(directory, 'image'), join(directory, 'server.mjs')),
      limits: { processes: 100, fileBytes: 2 ** 20, memoryBytes: 2 ** 30 },
      faults: new FaultSet(isContainerOf),
      serverVersion: '0.12.10',
      imageName: 'default',
      interpretersAhead: 0,
      directory: join(directory, 'disks'),
      socketPath: join(directory, 'engine.sock'),
    })
  }, 120_000)
  afterAll(async () => {
    await engine.stop()
    await removeTree(directory)
  })

  const call = (method: string, path: string, body?: unknown) =>
    callEngine(engine.socketPath, `${method} ${path}`, body)
  const tunnel = async (target: string) => {
    const socket = connect(sidecarPort, '127.0.0.1')
    socket.write(`CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\n\r\n`)
    const [head] = await once(socket, 'data')
    return { socket, head: String(head) }
  }

  const greeting = async () => {
    const { socket, head } = await tunnel('127.0.0.1:3000')
    if (!head.startsWith('HTTP/1.1 200')) return head
    socket.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
    const [answer] = await once(socket, 'data')
    socket.destroy()
    return String(answer)
  }

  it('answers what clients ask first, with a version in the path too', async () => {
    expect(await call('GET', '/_ping')).toEqual({ status: 200, body: 'OK' })
    expect(await call('GET', '/v1.44/_ping')).toEqual({ status: 200, body: 'OK' })
    const filters = encodeURIComponent('{"name":["workerd-snap-"]}')
    const volumes = await call('GET', `/volumes?filters=${filters}`)
    expect(volumes.body).toEqual({ Volumes: [], Warnings: [] })
    const { body } = await call('GET', '/networks/bridge')
    expect(body.IPAM.Config[0]).toEqual({ Subnet: '127.0.0.0/8', Gateway: '127.0.0.1' })
    expect((await call('GET', '/nothing')).status).toBe(404)
  })

  it('knows nothing before a container is made', async () => {
    expect((await call('GET', `/containers/${NAME}/json`)).status).toBe(404)
    expect((await call('DELETE', `/containers/${NAME}-proxy?force=true`)).status).toBe(404)
    expect((await call('POST', `/containers/${NAME}/start`)).status).toBe(404)
    expect((await call('POST', `/containers/${NAME}/wait`)).status).toBe(404)
    expect((await call('POST', `/containers/${NAME}/kill`)).status).toBe(404)
  })

  it('starts the sidecar and tells its port', async () => {
    expect((await call('POST', `/containers/create?name=${NAME}-proxy`, {})).status).toBe(201)
    expect((await call('POST', `/containers/${NAME}-proxy/start`)).status).toBe(204)
    const { body } = await call('GET', `/containers/${NAME}-proxy/json`)
    expect(body.State.Running).toBe(true)
    sidecarPort = Number(body.NetworkSettings.Ports['39001/tcp'][0].HostPort)
    const egress = await fetch(`http://127.0.0.1:${sidecarPort}/egress`, {
      method: 'PUT',
      body: '{}',
    })
    expect(egress.status).toBe(200)
    const certificate = await fetch(`http://127.0.0.1:${sidecarPort}/ca`)
    expect(await certificate.text()).toContain('BEGIN CERTIFICATE')
  })

  it('refuses a tunnel while nobody listens', async () => {
    const { head } = await tunnel('127.0.0.1:3000')
    expect(head).toMatch(/^HTTP\/1\.1 400 /)
  })

  it('starts the container and leads to its port', async () => {
    const settings = { Image: 'any', Env: ['GREETING=hello=there'] }
    const made = await call('POST', `/containers/create?name=${NAME}`, settings)
    expect(made).toMatchObject({ status: 201, body: { Warnings: [] } })
    expect((await call('POST', `/containers/create?name=${NAME}`, settings)).status).toBe(409)
    expect((await call('POST', `/containers/${made.body.Id}/start`)).status).toBe(204)
    expect((await call('POST', `/containers/${NAME}/start`)).status).toBe(304)
    await expect.poll(greeting, { timeout: 60_000 }).toContain('hello=there')
    const listed = await call('GET', '/containers/json')
    expect(listed.body).toMatchObject([{ Names: [`/${NAME}`], State: 'running' }])
  }, 90_000)

  it('stops by a signal, reports the exit code, and removes', async () => {
    const waiting = call('POST', `/containers/${NAME}/wait`)
    const removed = call('POST', `/containers/${NAME}/wait?condition=removed`)
    expect((await call('POST', `/containers/${NAME}/kill?signal=NONSENSE`)).status).toBe(400)
    expect((await call('POST', `/containers/${NAME}/kill?signal=SIGTERM`)).status).toBe(204)
    expect(await waiting).toEqual({ status: 200, body: { StatusCode: 7 } })
    expect((await call('POST', `/containers/${NAME}/kill`)).status).toBe(409)
    const { body } = await call('GET', `/containers/${NAME}/json`)
    expect(body.State).toMatchObject({ Running: false, ExitCode: 7 })
    expect((await call('DELETE', `/containers/${NAME}?force=true`)).status).toBe(204)
    expect(await removed).toEqual({ status: 200, body: { StatusCode: 7 } })
    expect((await call('GET', `/containers/${NAME}/json`)).status).toBe(404)
  })

  it('gives a container that is made again an empty disk', async () => {
    await call('POST', `/containers/create?name=${NAME}`, {})
    await call('POST', `/containers/${NAME}/start`)
    const root = engine.store.containers.get(NAME)?.root.directory ?? ''
    await writeFile(join(root, 'workspace/file'), 'x')
    expect((await call('DELETE', `/containers/${NAME}?force=true`)).status).toBe(204)
    await call('POST', `/containers/create?name=${NAME}`, {})
    const again = engine.store.containers.get(NAME)?.root.directory ?? ''
    expect(again).not.toBe(root)
    await expect(writeFile(join(root, 'x'), '')).rejects.toMatchObject({ code: 'ENOENT' })
  })
})
