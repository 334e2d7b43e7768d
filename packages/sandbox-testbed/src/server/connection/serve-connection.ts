import { RpcSession, type RpcTransport } from 'capnweb'
import type { WebSocket } from 'ws'
import type { Container } from '../container.ts'
import { OUTGOING_FRAME_BYTES } from '../limits.ts'
import { lineOf } from '../environment.ts'
import { NextRootTarget } from '../next/next-root-target.ts'
import { RootTarget } from '../root-target.ts'

/** The close code for a frame that is too large. */
const TOO_LARGE = 1009

/** Speaks the protocol over one WebSocket until it closes. */
export function serveConnection(socket: WebSocket, container: Container): void {
  const overflow = (): void => socket.close(TOO_LARGE, 'message too large')
  const gone = new AbortController()
  socket.once('close', () => gone.abort())
  const connection = { overflow, closed: gone.signal }
  const Root = lineOf() === '0.13' ? NextRootTarget : RootTarget
  const root = new Root(container, connection)
  // The session keeps itself alive for as long as its transport does.
  void new RpcSession(new SocketTransport(socket, overflow), root)
}

/** Frames of a WebSocket as the messages of a session. */
class SocketTransport implements RpcTransport {
  readonly #socket: WebSocket
  readonly #overflow: () => void
  readonly #received: string[] = []
  #waiting: PromiseWithResolvers<string> | undefined
  #failure: Error | undefined

  constructor(socket: WebSocket, overflow: () => void) {
    this.#socket = socket
    this.#overflow = overflow
    socket.on('message', (data, isBinary) => {
      if (isBinary || !Buffer.isBuffer(data)) this.#fail(new TypeError('expected a text frame'))
      else this.#deliver(data.toString('utf8'))
    })
    socket.on('close', (code) => this.#fail(new Error(`the connection was closed: ${code}`)))
    socket.on('error', (error) => this.#fail(error))
  }

  async send(message: string): Promise<void> {
    if (this.#socket.readyState !== this.#socket.OPEN) return
    if (message.length <= OUTGOING_FRAME_BYTES) this.#socket.send(message)
    else this.#overflow()
  }

  async receive(): Promise<string> {
    const next = this.#received.shift()
    if (next !== undefined) return next
    if (this.#failure !== undefined) throw this.#failure
    this.#waiting = Promise.withResolvers()
    return this.#waiting.promise
  }

  abort(): void {
    this.#socket.close(3000)
  }

  #deliver(message: string): void {
    const waiting = this.#waiting
    this.#waiting = undefined
    if (waiting === undefined) this.#received.push(message)
    else waiting.resolve(message)
  }

  #fail(error: Error): void {
    this.#failure ??= error
    this.#waiting?.reject(this.#failure)
    this.#waiting = undefined
  }
}
