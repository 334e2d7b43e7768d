import { join } from 'node:path'
import { build } from 'esbuild'
import { convertV4MiniflareOptions, Miniflare } from 'miniflare'
import { workerBuild } from './worker-build.ts'

const MB = 1024 * 1024
/** Between two looks at the heap, each after a collection of garbage. */
const SAMPLE_MS = 500
const POLL_MS = 50

const sessions = 'http://worker/agents/a'

/**
 * The most memory, in MB, that the isolate of two Durable Objects needs for its heap and its buffers while
 * the files of one session become those of a branch: of both objects, without garbage.
 */
export async function branchHeap(megabytes: number): Promise<number> {
  const miniflare = await start()
  try {
    await post(miniflare, 'source/start', { message: JSON.stringify({ megabytes }) })
    await untilEnded(miniflare)
    const heap = await HeapWatch.of(miniflare)
    await post(miniflare, 'source/branch', { sessionId: 'branch', files: 'checkpoint' })
    return heap.stop()
  } finally {
    await miniflare.dispose()
  }
}

async function start(): Promise<Miniflare> {
  const entry = join(import.meta.dirname, '../workers/branch-worker.js')
  const { outputFiles } = await build({ ...workerBuild, entryPoints: [entry] })
  const miniflare = new Miniflare(
    convertV4MiniflareOptions({
      modules: true,
      script: outputFiles[0]!.text,
      compatibilityDate: '2026-10-01',
      compatibilityFlags: ['nodejs_compat'],
      inspectorPort: 0,
      durableObjects: {
        SESSIONS: { className: 'Session', useSQLite: true, unsafePreventEviction: true },
      },
    }),
  )
  await miniflare.ready
  return miniflare
}

async function post(miniflare: Miniflare, path: string, body: object): Promise<void> {
  const answer = await miniflare.dispatchFetch(`${sessions}/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${path} is ${answer.status}: ${text}`)
}

async function untilEnded(miniflare: Miniflare): Promise<void> {
  for (;;) {
    const answer = await miniflare.dispatchFetch(`${sessions}/source/state`)
    const { status } = (await answer.json()) as { readonly status: string }
    if (status === 'completed') return
    if (status !== 'running') throw new Error(`the files were not written: ${status}`)
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  }
}

interface HeapUsage {
  readonly usedSize: number
  readonly backingStorageSize: number
}

/** Asks the inspector of the isolate again and again. */
class HeapWatch {
  readonly #socket: WebSocket
  readonly #timer: NodeJS.Timeout
  #asked = 0
  #peak = 0

  static async of(miniflare: Miniflare): Promise<HeapWatch> {
    const base = new URL('json', await miniflare.getInspectorURL())
    base.protocol = 'http:'
    const targets = (await (await fetch(base)).json()) as { webSocketDebuggerUrl: string }[]
    const own = targets.find(({ webSocketDebuggerUrl }) => /user:/.test(webSocketDebuggerUrl))
    if (own === undefined) throw new Error('the isolate has no inspector')
    const socket = new WebSocket(own.webSocketDebuggerUrl)
    await new Promise((resolve, reject) => {
      socket.addEventListener('open', resolve)
      socket.addEventListener('error', reject)
    })
    return new HeapWatch(socket)
  }

  private constructor(socket: WebSocket) {
    this.#socket = socket
    socket.addEventListener('message', ({ data }) => this.#note(JSON.parse(String(data))))
    this.#timer = setInterval(() => {
      for (const method of ['HeapProfiler.collectGarbage', 'Runtime.getHeapUsage']) {
        const id = (this.#asked += 1)
        socket.send(JSON.stringify({ id, method }))
      }
    }, SAMPLE_MS)
  }

  /** @returns the largest sum, in MB. */
  stop(): number {
    clearInterval(this.#timer)
    this.#socket.close()
    if (this.#peak === 0) throw new Error('the heap was never seen')
    return this.#peak / MB
  }

  #note({ result }: { readonly result?: Partial<HeapUsage> }): void {
    if (result?.usedSize === undefined) return
    this.#peak = Math.max(this.#peak, result.usedSize + (result.backingStorageSize ?? 0))
  }
}
