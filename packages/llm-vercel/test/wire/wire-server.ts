import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Wire, WireReply } from './wire.ts'

export interface WireServer {
  readonly url: string
  /** How the bytes of a body are sent: each in a packet of its own. Default: one for each frame. */
  split: (bytes: Buffer, frames: readonly Buffer[]) => readonly Buffer[]
  /** Breaks the connection after so many bytes of a body. */
  cutAfter: number | undefined
  /** Bodies whose reader went away before their end. */
  leftByReader: number
  close(): Promise<void>
}

/** A wire on a real port of this machine. */
export async function startWireServer(wire: Wire): Promise<WireServer> {
  const server = createServer((request, response) => void serve(request, response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const state: WireServer = {
    url: `http://127.0.0.1:${port}/v1`,
    split: (_, frames) => frames,
    cutAfter: undefined,
    leftByReader: 0,
    close: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const reply = await replyTo(wire, request)
    const frames = reply.frames.map((text) => Buffer.from(text))
    response.writeHead(reply.status, reply.headers)
    response.socket?.setNoDelay(true)
    response.once('close', () => (state.leftByReader += response.writableFinished ? 0 : 1))
    const { cutAfter } = state
    const all = Buffer.concat(frames)
    const isCut = cutAfter !== undefined && cutAfter < all.length
    const pieces = isCut ? [all.subarray(0, cutAfter)] : state.split(all, frames)
    for (const piece of pieces) await send(response, piece)
    if (isCut || reply.end === 'cut') response.socket?.destroy()
    else if (reply.end === 'close') response.end()
  }
  return state
}

async function replyTo(wire: Wire, request: IncomingMessage): Promise<WireReply> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const headers = Object.entries(request.headers).map(([name, value]) => [name, String(value)])
  const body = Buffer.concat(chunks).toString('utf8')
  return wire.answer(request.url ?? '', Object.fromEntries(headers), body)
}

/** Resolves once the bytes have left: the next ones are another packet. */
function send(response: ServerResponse, bytes: Buffer): Promise<void> {
  if (bytes.length === 0) return Promise.resolve()
  return new Promise((resolve) => {
    response.write(bytes, () => setImmediate(resolve))
  })
}
