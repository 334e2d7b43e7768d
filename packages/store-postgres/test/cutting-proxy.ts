// Stands between a store and a server, and cuts connections at chosen moments.
import { mkdtempSync, rmSync } from 'node:fs'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

/**
 * Where a connection is cut when its client commits: before the server has heard of it, as soon as
 * it was sent, or when the server has answered.
 */
export type Cut = 'before' | 'during' | 'after'

const SOCKET = '.s.PGSQL.5432'

export class CuttingProxy {
  /** The same database through the proxy. */
  readonly url: string
  /** Cuts the next commit, once. */
  nextCut: Cut | undefined
  cuts = 0
  /** What is sent arrives so much later, in milliseconds. */
  delayMs = 0
  /** How often a client sent something when it had all answers. */
  turns = 0
  readonly #directory = mkdtempSync(join(tmpdir(), 'helix-pg-proxy-'))
  readonly #target: string
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  #isHeld = false

  private constructor(url: string) {
    const through = new URL(url)
    this.#target = join(decodeURIComponent(through.host), SOCKET)
    this.url = url.replace(through.host, encodeURIComponent(this.#directory))
    this.#server = createServer((client) => this.#serve(client))
  }

  /** A proxy that is closed after the test. */
  static async open(url: string): Promise<CuttingProxy> {
    const proxy = await CuttingProxy.start(url)
    onTestFinished(() => proxy.close())
    return proxy
  }

  static async start(url: string): Promise<CuttingProxy> {
    const proxy = new CuttingProxy(url)
    await new Promise<void>((resolve) =>
      proxy.#server.listen(join(proxy.#directory, SOCKET), resolve),
    )
    return proxy
  }

  /** Lets nothing through until `release`. */
  hold(): void {
    this.#isHeld = true
    for (const socket of this.#sockets) socket.pause()
  }

  release(): void {
    this.#isHeld = false
    for (const socket of this.#sockets) socket.resume()
  }

  /** Cuts all connections. */
  cutAll(): void {
    for (const socket of this.#sockets) socket.destroy()
  }

  #serve(client: Socket): void {
    const server = connect(this.#target)
    let isAnswered = true
    let isCut = false
    for (const socket of [client, server]) {
      this.#sockets.add(socket)
      if (this.#isHeld) socket.pause()
      socket.on('error', () => socket.destroy())
      socket.on('close', () => {
        this.#sockets.delete(socket)
        client.destroy()
        // What was sent is still read by the server.
        server.end()
      })
    }
    client.on('data', (data) => {
      if (isAnswered) this.turns++
      isAnswered = false
      const cut = data.includes('COMMIT\0') ? this.#takeCut() : undefined
      if (cut !== 'before') this.#pass(client, () => server.write(data))
      if (cut === 'before' || cut === 'during') client.destroy()
      isCut = cut === 'after'
    })
    server.on('data', (data) => {
      isAnswered = true
      if (isCut) client.destroy()
      else this.#pass(server, () => client.writable && client.write(data))
    })
  }

  /** What a socket sends stays in its order. */
  #pass(from: Socket, write: () => void): void {
    if (this.delayMs === 0) return write()
    from.pause()
    setTimeout(() => {
      write()
      if (!this.#isHeld) from.resume()
    }, this.delayMs)
  }

  #takeCut(): Cut | undefined {
    const cut = this.nextCut
    this.nextCut = undefined
    if (cut !== undefined) this.cuts++
    return cut
  }

  close(): void {
    this.cutAll()
    this.#server.close()
    rmSync(this.#directory, { recursive: true, force: true })
  }
}
