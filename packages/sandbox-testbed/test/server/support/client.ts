import { newWebSocketRpcSession } from 'capnweb'
import { WebSocket } from 'ws'

// oxlint-disable-next-line typescript/no-explicit-any -- a test calls whatever the protocol has
export type RemoteRoot = any

/** A connection to the server, as the SDK makes one. */
export interface Client {
  readonly root: RemoteRoot
  readonly socket: WebSocket
  close(): void
}

/** Connects to the socket of a server. */
export async function connect(socketPath: string): Promise<Client> {
  const socket = new WebSocket(`ws+unix:${socketPath}:/rpc`, { perMessageDeflate: false })
  await new Promise((resolve, reject) => {
    socket.once('open', resolve)
    socket.once('error', reject)
  })
  const root = newWebSocketRpcSession(socket as unknown as globalThis.WebSocket)
  return { root, socket, close: () => socket.close() }
}

/** Whatever a call was rejected with. */
export async function failure(call: PromiseLike<unknown>): Promise<{
  code?: string
  details?: Record<string, unknown>
  message: string
}> {
  try {
    await call
  } catch (error) {
    return error as { code?: string; message: string }
  }
  throw new Error('the call did not fail')
}

/** The events of a stream, decoded; ends after a number of them or with the stream. */
export async function events(
  stream: ReadableStream<Uint8Array>,
  enough: (event: Record<string, unknown>) => boolean = () => false,
): Promise<Record<string, unknown>[]> {
  const found: Record<string, unknown>[] = []
  const reader = stream.getReader()
  const decoder = new TextDecoder()
  let rest = ''
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return found
    const frames = (rest + decoder.decode(value, { stream: true })).split('\n\n')
    rest = frames.pop() ?? ''
    for (const frame of frames) {
      const line = frame.split('\n').find((text) => text.startsWith('data: '))
      if (line === undefined) continue
      const event = JSON.parse(line.slice('data: '.length)) as Record<string, unknown>
      found.push(event)
      if (!enough(event)) continue
      await reader.cancel()
      return found
    }
  }
}
