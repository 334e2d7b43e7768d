import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { connect, type Socket } from 'node:net'

/** workerd reads a certificate for outbound interception, which this sidecar does not offer. */
const CERTIFICATE = '-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n'

/**
 * The networking sidecar in a container engine: shares the network of a container and is the way
 * of workerd to its ports. Nothing outbound is intercepted.
 *
 * @param address `host:port` to listen on.
 */
export async function startIngress(address: string): Promise<Server> {
  const { host, port } = split(address)
  const server = createServer(configure)
  server.on('connect', tunnel)
  server.listen(port, host)
  await once(server, 'listening')
  return server
}

/** Settings of outbound interception: accepted, without effect. */
function configure(request: IncomingMessage, response: ServerResponse): void {
  request.resume()
  if (request.url === '/ca') response.end(CERTIFICATE)
  else response.writeHead(204).end()
}

/** workerd takes 400 for a port without a listener, and asks again. */
function tunnel(request: IncomingMessage, client: Socket, head: Buffer): void {
  const target = request.headers['x-dst-addr'] ?? request.url
  const { host, port } = split(String(target))
  const origin = connect({ host, port, allowHalfOpen: true })
  for (const socket of [client, origin]) socket.setNoDelay(true)
  client.on('error', () => origin.destroy())
  origin.once('error', () => {
    if (client.bytesWritten > 0) client.destroy()
    else client.end('HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n')
  })
  origin.once('connect', () => {
    client.write('HTTP/1.1 200 OK\r\n\r\n')
    origin.write(head)
    client.pipe(origin).pipe(client)
    client.once('close', () => origin.destroy())
    origin.once('close', () => client.destroySoon())
  })
}

function split(address: string): { readonly host: string; readonly port: number } {
  const { host = '', port = '' } = /^(?<host>.*):(?<port>\d+)$/.exec(address)?.groups ?? {}
  return { host: host.replace(/^\[|\]$/g, '') || '127.0.0.1', port: Number(port) }
}
