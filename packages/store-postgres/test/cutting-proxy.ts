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
  /** How often a client sent something when it had all answers. */
  turns = 0
  readonly #directory = mkdtempSync(join(tmpdir(), 'helix-pg-proxy-'))
  readonly #target: string
  readonly #server: Server
  readonly #sockets = new Set<Socket>()

  private constructor(url: string) {
    const through = new URL(url)
    this.#target = join(decodeURIComponent(through.host), SOCKET)
    this.url = url.replace(through.host, encodeURIComponent(this.#directory))
    this.#server = createServer((client) => this.#serve(client))
  }

  static async open(url: string): Promise<CuttingProxy> {
    const proxy = new CuttingProxy(url)
    await new Promise<void>((resolve) =>
      proxy.#server.listen(join(proxy.#directory, SOCKET), resolve),
    )
    onTestFinished(() => proxy.#close())
    return proxy
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
      if (cut !== 'before') server.write(data)
      if (cut === 'before' || cut === 'during') client.destroy()
      isCut = cut === 'after'
    })
    server.on('data', (data) => {
      isAnswered = true
      if (isCut) client.destroy()
      else if (client.writable) client.write(data)
    })
  }

  #takeCut(): Cut | undefined {
    const cut = this.nextCut
    this.nextCut = undefined
    if (cut !== undefined) this.cuts++
    return cut
  }

  #close(): void {
    this.cutAll()
    this.#server.close()
    rmSync(this.#directory, { recursive: true, force: true })
  }
}
