import type { Wire, WireReply } from './wire.ts'

/** A wire as the `fetch` of a provider package: for platforms without a server of their own. */
export function fetchOf(wire: Wire): typeof fetch {
  return async (address, init) => {
    const request = new Request(address, init)
    const headers = Object.fromEntries(request.headers)
    const { pathname } = new URL(request.url)
    const reply = await wire.answer(pathname, headers, await request.text())
    return new Response(streamOf(reply, init?.signal ?? undefined), {
      status: reply.status,
      headers: reply.headers,
    })
  }
}

function streamOf({ frames, end }: WireReply, signal?: AbortSignal): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  let next = 0
  return new ReadableStream({
    start: (controller) => {
      signal?.addEventListener('abort', () => controller.error(signal.reason))
    },
    pull: (controller) => {
      const text = frames[next++]
      if (text !== undefined) controller.enqueue(encoder.encode(text))
      else if (end === 'close') controller.close()
      else if (end === 'cut') controller.error(new TypeError('terminated'))
      else return new Promise(() => {})
      return undefined
    },
  })
}
