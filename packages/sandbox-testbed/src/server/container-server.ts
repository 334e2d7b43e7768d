import { createServer, type Server } from 'node:http'
import { once } from 'node:events'
import { WebSocketServer } from 'ws'
import { Container } from './container.ts'
import { INCOMING_FRAME_BYTES } from './limits.ts'
import { serveConnection } from './serve-connection.ts'

/** A server that listens. */
export interface ContainerServer {
  readonly port: number
  /** Ends it and everything it started. */
  close(): void
}

/**
 * Serves the protocol on the loopback interface: any answer on `/` means ready, `/rpc` is the
 * WebSocket.
 * @param port - 0 lets the system choose.
 */
export async function startContainerServer(port: number): Promise<ContainerServer> {
  const container = new Container()
  const http = createServer((_request, response) => response.end('ready\n'))
  const sockets = new WebSocketServer({
    server: http,
    path: '/rpc',
    maxPayload: INCOMING_FRAME_BYTES,
    perMessageDeflate: false,
  })
  sockets.on('connection', (socket) => serveConnection(socket, container))
  http.listen(port, '127.0.0.1')
  await once(http, 'listening')
  return {
    port: portOf(http),
    close: () => {
      container.close()
      for (const socket of sockets.clients) socket.terminate()
      http.close()
    },
  }
}

function portOf(http: Server): number {
  const address = http.address()
  return typeof address === 'object' && address !== null ? address.port : 0
}
