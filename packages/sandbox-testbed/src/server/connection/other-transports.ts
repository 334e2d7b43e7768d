import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { timestamp } from '../server-sent-events.ts'

const NOT_IMPLEMENTED = 501
/** Also a reason phrase: of a rejected WebSocket the SDK reports nothing else. */
const REFUSAL =
  'this container server speaks the transport rpc only: set SANDBOX_TRANSPORT to rpc and give ' +
  'getSandbox no other transport, or run the image of the SDK in a container engine'

/** Answers that it is ready, and rejects the routes of the transport `http`. */
export function answerRequest(request: IncomingMessage, response: ServerResponse): void {
  if (request.url?.startsWith('/api/') !== true) {
    response.end('ready\n')
    return
  }
  request.resume()
  response.writeHead(NOT_IMPLEMENTED, { 'content-type': 'application/json' })
  const error = { code: 'INTERNAL_ERROR', message: REFUSAL, context: {} }
  response.end(JSON.stringify({ ...error, httpStatus: NOT_IMPLEMENTED, timestamp: timestamp() }))
}

/** Rejects a WebSocket of the transport `websocket`. */
export function refuseUpgrade(socket: Duplex): void {
  socket.on('error', () => socket.destroy())
  socket.end(`HTTP/1.1 ${NOT_IMPLEMENTED} ${REFUSAL}\r\nConnection: close\r\n\r\n`)
}
