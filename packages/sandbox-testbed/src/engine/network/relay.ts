import { createServer, type IncomingMessage, request, type Server } from 'node:http'
import type { ServerResponse } from 'node:http'
import { connect } from 'node:net'
import type { Duplex } from 'node:stream'
import { WebSocket, WebSocketServer } from 'ws'
import type { Network } from './network.ts'
import { relayMessages } from './relay-messages.ts'

/** Where the connections of one container lead, looked up for each. */
export interface RelayTarget {
  /** Socket of the server; undefined when it has gone. */
  readonly socketPath: string | undefined
  readonly network: Network
}

/**
 * Relays HTTP and WebSocket traffic to a container server, message by message, so that faults can
 * happen between two messages.
 */
export function createRelay(target: () => RelayTarget): Server {
  const sockets = new WebSocketServer({ noServer: true, perMessageDeflate: false })
  const server = createServer((incoming, outgoing) => relayRequest(target(), incoming, outgoing))
  server.keepAliveTimeout = 0
  server.requestTimeout = 0
  server.on('upgrade', (incoming: IncomingMessage, socket: Duplex, head: Buffer) => {
    relayUpgrade(target(), sockets, { incoming, socket, head })
  })
  return server
}

interface Upgrade {
  readonly incoming: IncomingMessage
  readonly socket: Duplex
  readonly head: Buffer
}

function relayUpgrade(
  { socketPath, network }: RelayTarget,
  sockets: WebSocketServer,
  { incoming, socket, head }: Upgrade,
): void {
  if (socketPath === undefined) return void socket.destroy()
  const container = new WebSocket(`ws://container${incoming.url ?? '/'}`, {
    perMessageDeflate: false,
    headers: passedOn(incoming),
    createConnection: () => connect(socketPath),
  })
  socket.on('error', () => container.terminate())
  container.on('error', () => socket.destroy())
  container.once('unexpected-response', (_, response) => {
    socket.end(`HTTP/1.1 ${response.statusCode} ${response.statusMessage}\r\n\r\n`)
  })
  container.once('open', () => {
    container.pause()
    sockets.handleUpgrade(incoming, socket, head, (worker) => {
      relayMessages({ worker, container, network })
    })
  })
}

function relayRequest(
  { socketPath, network }: RelayTarget,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): void {
  if (socketPath === undefined) return void outgoing.destroy()
  const { method, url, headers } = incoming
  const forwarded = request({ socketPath, method, path: url, headers }, (answer) => {
    network.deliver('from-container', () => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(outgoing)
    })
  })
  forwarded.on('error', () => outgoing.destroy())
  outgoing.on('close', () => forwarded.destroy())
  network.deliver('to-container', () => incoming.pipe(forwarded))
}

/** Headers that mean something to the server; those of the handshake are made anew. */
function passedOn({ headers }: IncomingMessage): Record<string, string> {
  const kept = Object.entries(headers).filter(
    ([name]) => !/^(?:connection|upgrade|host|sec-websocket-.*)$/.test(name),
  )
  return Object.fromEntries(kept.map(([name, value]) => [name, String(value)]))
}
