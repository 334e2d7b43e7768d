import { createServer } from 'node:http'
import { once } from 'node:events'
import { WebSocketServer } from 'ws'
import { Container } from './container.ts'
import { INCOMING_FRAME_BYTES } from './limits.ts'
import { answerRequest, refuseUpgrade } from './connection/other-transports.ts'
import { serveConnection } from './connection/serve-connection.ts'

/** A server that listens. */
export interface ContainerServer {
  /** Ends it and everything it started. */
  close(): void
}

const LOOPBACK = '127.0.0.1'
const RPC_PATH = '/rpc'

/**
 * Serves the protocol: any answer on `/` means ready, `/rpc` is the WebSocket. The other transports
 * of the SDK are rejected.
 * @param address - Path of a unix socket, or a port on the loopback interface.
 */
export async function startContainerServer(address: number | string): Promise<ContainerServer> {
  const container = new Container()
  const http = createServer(answerRequest)
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: INCOMING_FRAME_BYTES,
    perMessageDeflate: false,
  })
  http.on('upgrade', (request, socket, head) => {
    if (request.url?.split('?')[0] !== RPC_PATH) return refuseUpgrade(socket)
    sockets.handleUpgrade(request, socket, head, (client) => serveConnection(client, container))
  })
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
