import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, request, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type PatientSocket, startPatientSocket } from '../../src/engine/docker/patient-socket.ts'
import { callEngine } from './support.ts'

describe('the way to a container engine', () => {
  let directory: string
  let socketPath: string
  let engine: Server
  let patient: PatientSocket
  /** Status of the sidecar's answers; it has no port while it is 0. */
  let sidecarStatus = 0
  let looks = 0
  const servers: Server[] = []

  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'helix-patient-'))
    socketPath = join(directory, 'own.sock')
    sidecarStatus = 0
    looks = 0
    const sidecar = createServer((_, response) => {
      looks++
      response.writeHead(sidecarStatus).end()
    }).listen(0, '127.0.0.1')
    await once(sidecar, 'listening')
    const { port } = sidecar.address() as { port: number }
    engine = createServer(async (incoming, response) => {
      let text = ''
      for await (const chunk of incoming) text += String(chunk)
      const { method, url } = incoming
      if (url === '/never') return
      if (url?.endsWith('/start')) {
        response.writeHead(204).end()
        return
      }
      const ports = { '39001/tcp': sidecarStatus === 0 ? [] : [{ HostPort: String(port) }] }
      const body = url?.endsWith('/json') ? { NetworkSettings: { Ports: ports } } : { text }
      response.writeHead(201, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ ...body, method, url }))
    }).listen(join(directory, 'engine.sock'))
    await once(engine, 'listening')
    servers.push(sidecar, engine)
    patient = await startPatientSocket(join(directory, 'engine.sock'), socketPath)
  })
  afterEach(async () => {
    await patient.stop()
    for (const server of servers.splice(0)) {
      server.closeAllConnections()
      server.close()
    }
    rmSync(directory, { recursive: true })
  })

  it('hands calls on with their bodies, and answers as they are', async () => {
    const answer = await callEngine(socketPath, 'POST /containers/create?name=a', { Image: 'b' })
    const text = '{"Image":"b"}'
    const body = { text, method: 'POST', url: '/containers/create?name=a' }
    expect(answer).toEqual({ status: 201, body })
  })

  it('answers the start of a sidecar when that listens', async () => {
    sidecarStatus = 503
    let isAnswered = false
    const start = callEngine(socketPath, 'POST /containers/a-proxy/start').finally(() => {
      isAnswered = true
    })
    await expect.poll(() => looks).toBeGreaterThan(1)
    expect(isAnswered).toBe(false)
    sidecarStatus = 200
    expect((await start).status).toBe(204)
  })

  it('does not wait for a sidecar without a port, nor for any other container', async () => {
    expect((await callEngine(socketPath, 'POST /containers/a-proxy/start')).status).toBe(204)
    sidecarStatus = 503
    expect((await callEngine(socketPath, 'POST /v1.44/containers/a/start')).status).toBe(204)
    expect(looks).toBe(0)
  })

  it('becomes a stream of bytes where the engine says so', async () => {
    engine.on('upgrade', (_, socket) => {
      socket.write('HTTP/1.1 101 UPGRADED\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\nfirst')
      socket.on('data', (data) => socket.end(`echo ${String(data)}`))
    })
    const headers = { connection: 'Upgrade', upgrade: 'tcp' }
    const sent = request({ socketPath, method: 'POST', path: '/exec/a/start', headers }).end()
    const [answer, stream, first] = await once(sent, 'upgrade')
    expect(answer.statusCode).toBe(101)
    let text = String(first)
    stream.write('hi')
    for await (const chunk of stream) text += String(chunk)
    expect(text).toBe('firstecho hi')
  })

  it('cuts calls that are still on when it stops', async () => {
    const arrived = once(engine, 'request').then(() => patient.stop())
    const call = callEngine(socketPath, 'GET /never')
    await expect(call).rejects.toMatchObject({ code: 'ECONNRESET' })
    await arrived
  })
})
