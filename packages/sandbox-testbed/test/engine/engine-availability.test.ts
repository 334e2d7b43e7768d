import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { once } from 'node:events'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { containerEngineAvailability } from '../../src/engine/docker/engine-availability.ts'

type Answers = Readonly<Record<string, readonly [status: number, body?: unknown]>>

const BRIDGE = { IPAM: { Config: [{ Subnet: '172.17.0.0/16', Gateway: '172.17.0.1' }] } }

describe('what is said about an engine', () => {
  let directory: string
  let socketPath: string
  let sidecarPort = 0
  const servers: Server[] = []
  let asked: string[]

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'helix-engine-'))
    socketPath = join(directory, 'engine.sock')
    asked = []
    vi.stubEnv('DOCKER_HOST', `unix://${socketPath}`)
    vi.stubEnv('HELIX_SANDBOX_IMAGE', 'own:1')
    vi.stubEnv('MINIFLARE_CONTAINER_EGRESS_IMAGE', 'sidecar:1')
  })
  afterEach(() => {
    vi.unstubAllEnvs()
    for (const server of servers.splice(0)) {
      server.closeAllConnections()
      server.close()
    }
    rmSync(directory, { recursive: true })
  })

  /** The first key that the request begins with, or ends with after `*`, decides. */
  const engine = async (answers: Answers): Promise<void> => {
    const server = createServer((request, response) => {
      const line = `${request.method} ${request.url}`
      asked.push(line)
      const key = Object.keys(answers).find((part) =>
        part.startsWith('*') ? line.endsWith(part.slice(1)) : line.startsWith(part),
      )
      const [status, body] = answers[key ?? ''] ?? [204]
      response.writeHead(status, { 'content-type': 'application/json' })
      response.end(body === undefined ? undefined : JSON.stringify(body))
    }).listen(socketPath)
    servers.push(server)
    await once(server, 'listening')
  }
  const sidecar = async (): Promise<void> => {
    const server = createServer((_, response) => response.end('pem')).listen(0, '127.0.0.1')
    servers.push(server)
    await once(server, 'listening')
    sidecarPort = (server.address() as { port: number }).port
  }
  const good = (): Answers => ({
    'GET /images/own:1/json': [
      200,
      { Config: { Labels: { 'dev.helix-agents.sandbox.transports': 'rpc' } } },
    ],
    'GET /images/': [200, {}],
    'GET /networks/bridge': [200, BRIDGE],
    'GET /containers/helix-testbed-probe-': [
      200,
      { NetworkSettings: { Ports: { '39001/tcp': [{ HostPort: String(sidecarPort) }] } } },
    ],
    'POST /containers/create': [201, {}],
  })

  it('is absent where nothing listens', async () => {
    expect(await containerEngineAvailability()).toMatchObject({ problem: 'absent' })
    writeFileSync(socketPath, '')
    expect(await containerEngineAvailability()).toMatchObject({ problem: 'absent' })
  })

  it('cannot be used over the network', async () => {
    vi.stubEnv('DOCKER_HOST', 'tcp://127.0.0.1:2375')
    expect(await containerEngineAvailability()).toMatchObject({ problem: 'unusable' })
  })

  it('lacks images, which are named and not pulled', async () => {
    await engine({ 'GET /images/own:1/json': [404, {}], 'GET /images/': [200, {}] })
    const found = await containerEngineAvailability()
    expect(found).toMatchObject({ problem: 'images-missing' })
    expect(found).toHaveProperty('reason', expect.stringContaining('pull own:1'))
    expect(asked.filter((line) => line.startsWith('POST'))).toEqual([])
  })

  it.each<[string, () => Answers]>([
    ['refuses', () => ({ 'GET /_ping': [500, {}] })],
    ['fails at its images', () => ({ 'GET /images/': [500, {}] })],
    ['has no gateway', () => ({ ...good(), 'GET /networks/bridge': [200, { IPAM: {} }] })],
    ['creates nothing', () => ({ ...good(), 'POST /containers/create': [500, {}] })],
  ])('is unusable when it %s', async (_, answers) => {
    await sidecar()
    await engine(answers())
    expect(await containerEngineAvailability()).toMatchObject({ problem: 'unusable' })
  })

  it.each([
    [0, { available: true, image: 'own:1', transports: ['rpc'] }],
    [127, { available: false, problem: 'unusable' }],
  ])('is tried with a container that ends with %i, and that is removed', async (code, expected) => {
    await sidecar()
    await engine({ '*/wait': [200, { StatusCode: code }], ...good() })
    expect(await containerEngineAvailability()).toMatchObject(expected)
    expect(asked.filter((line) => line.startsWith('DELETE '))).toHaveLength(2)
  })
})
