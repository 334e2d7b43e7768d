import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { createDockerClient } from './docker-client.ts'
import { untilSidecarAnswers } from './sidecar-ready.ts'

/** The start of a networking sidecar; workerd names it so. */
const SIDECAR_START = /^(?:\/v[\d.]+)?\/containers\/(?<name>[^/]+-proxy)\/start$/
/** How long a sidecar may take to listen before workerd gets the answer all the same. */
const PATIENCE_MS = 30_000

/** A way to a container engine. */
export interface PatientSocket {
  /** Cuts the calls that are still on. */
  stop(): Promise<void>
}

/**
 * Listens on a unix socket and hands every call on to a container engine. Only the start of a
 * networking sidecar is answered later, when it listens: workerd asks it for two seconds and then
 * gives the whole container up, which is not enough where ten start at once.
 *
 * @param engine socket of the engine.
 * @param socketPath where to listen.
 */
export async function startPatientSocket(
  engine: string,
  socketPath: string,
): Promise<PatientSocket> {
  const server = createServer((incoming, outgoing) => handOn(engine, incoming, outgoing))
  server.on('upgrade', (incoming: IncomingMessage, socket: Duplex, head: Buffer) => {
    handOnUpgrade(engine, incoming, { socket, head })
  })
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  // `wait` answers when a container ends, hours later.
  server.requestTimeout = 0
  server.listen(socketPath)
  await once(server, 'listening')
  return {
    stop: async () => {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function handOn(engine: string, incoming: IncomingMessage, outgoing: ServerResponse): void {
  const { method, url, headers } = incoming
  const options = { socketPath: engine, method, path: url, headers, agent: false } as const
  const forwarded = request(options, (answer) => {
    const send = (): void => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
      outgoing.flushHeaders()
      answer.pipe(outgoing)
    }
    const name = method === 'POST' ? SIDECAR_START.exec(url ?? '')?.groups?.name : undefined
    if (name === undefined) send()
    // One that never listens is for workerd to report.
    else untilSidecarAnswers(createDockerClient(engine), name, PATIENCE_MS).then(send, send)
  })
  forwarded.on('error', () => outgoing.destroy())
  outgoing.on('close', () => forwarded.destroy())
  incoming.pipe(forwarded)
}

interface Upgraded {
  readonly socket: Duplex
  readonly head: Buffer
}

/** Calls that continue as a stream of bytes: `exec` of a container. */
function handOnUpgrade(
  engine: string,
  incoming: IncomingMessage,
  { socket, head }: Upgraded,
): void {
  const { method, url: path, headers } = incoming
  const forwarded = request({ socketPath: engine, method, path, headers, agent: false })
  socket.on('error', () => forwarded.destroy())
  forwarded.on('error', () => socket.destroy())
  forwarded.on('response', (answer) => {
    socket.write(headOf(answer))
    answer.pipe(socket)
  })
  forwarded.on('upgrade', (answer, origin, first) => {
    socket.write(headOf(answer))
    socket.write(first)
    origin.write(head)
    origin.on('error', () => socket.destroy())
    socket.on('close', () => origin.destroy())
    socket.pipe(origin).pipe(socket)
  })
  incoming.pipe(forwarded)
}

function headOf({ statusCode, statusMessage, rawHeaders }: IncomingMessage): string {
  const lines = [`HTTP/1.1 ${statusCode} ${statusMessage}`]
  for (let index = 0; index < rawHeaders.length; index += 2) {
    lines.push(`${rawHeaders[index]}: ${rawHeaders[index + 1]}`)
  }
  return `${lines.join('\r\n')}\r\n\r\n`
}
