import { createServer } from 'node:http'
import { once } from 'node:events'
import { WebSocketServer } from 'ws'
import { Container } from './container.ts'
import { INCOMING_FRAME_BYTES } from './limits.ts'
import { serveConnection } from './serve-connection.ts'

const LOOPBACK = '127.0.0.1'

/** A server that listens. */
export interface ContainerServer {
  /** Ends it and everything it started. */
  close(): void
}

/**
 * Serves the protocol: any answer on `/` means ready, `/rpc` is the WebSocket.
 * @param address - Path of a unix socket, or a port on the loopback interface.
 */
export async function startContainerServer(address: number | string): Promise<ContainerServer> {
  const container = new Container()
  const http = createServer((_request, response) => response.end('ready\n'))
  const sockets = new WebSocketServer({
    server: http,
    path: '/rpc',
    maxPayload: INCOMING_FRAME_BYTES,
    perMessageDeflate: false,
  })
  sockets.on('connection', (socket) => serveConnection(socket, container))
  http.listen(typeof address === 'string' ? { path: address } : { port: address, host: LOOPBACK })
  await once(http, 'listening')
  return {
    close: () => {
      container.close()
      for (const socket of sockets.clients) socket.terminate()
      http.close()
    },
  }
}
