import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { connect, type Socket } from 'node:net'
import type { Container } from '../container/container.ts'
import type { Network } from './network.ts'
import type { PeerTest } from '../container/own-peers.ts'
import { createRelay } from './relay.ts'

/** Port that the container server listens on in the image. */
const SERVER_PORT = 3000
/** workerd reads a certificate for outbound interception, which this engine does not offer. */
const CERTIFICATE = '-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n'

/** Which container a sidecar leads to at the moment, through which network, and for whom. */
export interface SidecarTarget {
  container(): Container | undefined
  readonly network: () => Network
  readonly isOwnPeer: PeerTest
}

/** The networking sidecar of one sandbox: the way of workerd to the ports of a container. */
export class Sidecar {
  readonly #server: Server
  readonly #relay: Server
  readonly #target: SidecarTarget
  readonly #sockets = new Set<Socket>()
  #port: Promise<number> | undefined

  constructor(target: SidecarTarget) {
    this.#target = target
    this.#server = createServer(answer)
    this.#relay = createRelay(() => ({
      socketPath: target.container()?.serverSocket(),
      network: target.network(),
    }))
    this.#server.on('connect', (request: IncomingMessage, socket: Socket) => {
      this.#connect(request, socket)
    })
  }

  /** Starts listening, once. @returns the port on the loopback of the host. */
  start(): Promise<number> {
    this.#port ??= this.#listen()
    return this.#port
  }

  /** Closes all connections, those of other callers too. */
  async stop(): Promise<void> {
    await this.#port
    this.cutAll()
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  /** Cuts every connection to the container, as its end does. */
  cutAll(): void {
    for (const socket of this.#sockets) socket.destroy()
  }

  async #listen(): Promise<number> {
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
    const address = this.#server.address()
    return address === null || typeof address === 'string' ? 0 : address.port
  }

  #connect(request: IncomingMessage, socket: Socket): void {
    this.#track(socket)
    const wanted = Number(/:(?<port>\d+)$/.exec(request.url ?? '')?.groups?.port)
    const container = this.#target.container()
    // A container may not command another one: the loopback is the same for all.
    if (!this.#target.isOwnPeer(socket)) return reject(socket, '403 Forbidden')
    if (container?.state !== 'running' || !wanted) return reject(socket)
    if (container.refusal !== undefined) {
      return reject(socket, '503 Service Unavailable', container.refusal)
    }
    if (wanted === SERVER_PORT) this.#leadToServer(container, socket)
    else tunnel(socket, connect(wanted, '127.0.0.1'), pipeBoth)
  }

  #leadToServer(container: Container, socket: Socket): void {
    const socketPath = container.serverSocket()
    if (socketPath === undefined) return reject(socket)
    tunnel(socket, connect(socketPath), (_, probe) => {
      probe.destroy()
      this.#relay.emit('connection', socket)
    })
  }

  #track(socket: Socket): void {
    this.#sockets.add(socket)
    socket.on('error', () => socket.destroy())
    socket.once('close', () => this.#sockets.delete(socket))
  }
}

/** Continues when the other end accepted; else workerd gets the answer of a port without a listener. */
function tunnel(
  socket: Socket,
  origin: Socket,
  goOn: (socket: Socket, origin: Socket) => void,
): void {
  origin.once('error', () => reject(socket))
  origin.once('connect', () => {
    socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
    goOn(socket, origin)
  })
}

/** workerd takes 400 for a port without a listener, and asks again; others it reports. */
function reject(socket: Socket, status = '400 Bad Request', reason = ''): void {
  const length = Buffer.byteLength(reason)
  socket.write(
    `HTTP/1.1 ${status}\r\nContent-Length: ${length}\r\nConnection: close\r\n\r\n${reason}`,
  )
  // Its end must not depend on the one that was rejected.
  socket.destroySoon()
}

function pipeBoth(one: Socket, other: Socket): void {
  one.pipe(other)
  other.pipe(one)
  one.once('close', () => other.destroy())
  other.once('close', () => one.destroy())
  other.on('error', () => one.destroy())
}

/** Configuration of outbound interception: accepted, without effect. */
function answer(request: IncomingMessage, response: ServerResponse): void {
  request.resume()
  response.end(request.url === '/ca' ? CERTIFICATE : '')
}
