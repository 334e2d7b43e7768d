import { join } from 'node:path'
import { build, type Plugin } from 'esbuild'
import { convertV4MiniflareOptions, Miniflare } from 'miniflare'
import { childrenNamed, processorClock } from './processor-time.ts'
import { workerBuild } from './worker-build.ts'

const workers = join(import.meta.dirname, '../workers')
const peerFolder = join(import.meta.dirname, '../peers')

/** A Worker that runs in workerd until it is stopped. */
export interface RunningWorker {
  get(query: Readonly<Record<string, string>>): Promise<{ readonly ok: boolean }>
  /** Processor time of workerd, in microseconds; undefined where the system does not say. */
  readonly clock: (() => number) | undefined
  stop(): Promise<void>
}

/** Puts the peer in the place of the module that stands in for it. */
const withPeer: Plugin = {
  name: 'with-peer',
  setup(bundler) {
    bundler.onResolve({ filter: /filestore-peer\.ts$/ }, () => ({
      path: join(workers, 'shell-peer.js'),
    }))
    bundler.onResolve({ filter: /^@cloudflare\/shell$/ }, ({ path, pluginData }) =>
      pluginData === 'resolved'
        ? undefined
        : bundler.resolve(path, {
            kind: 'import-statement',
            resolveDir: peerFolder,
            pluginData: 'resolved',
          }),
    )
  },
}

/** Starts the object of the file store's tasks, with a database on disk. */
export async function startFileStoreWorker(peers: boolean): Promise<RunningWorker> {
  const { outputFiles } = await build({
    ...workerBuild,
    entryPoints: [join(workers, 'worker.ts')],
    plugins: peers ? [withPeer] : [],
  })
  const options = convertV4MiniflareOptions({
    modules: true,
    script: outputFiles[0]!.text,
    compatibilityDate: '2026-10-01',
    compatibilityFlags: ['nodejs_compat'],
    durableObjects: {
      // On a busy machine it may look idle between two requests.
      BENCH: { className: 'BenchObject', useSQLite: true, unsafePreventEviction: true },
    },
  })
  const others = new Set(childrenNamed('workerd'))
  const miniflare = new Miniflare(options)
  await miniflare.ready
  const workerd = childrenNamed('workerd').find((id) => !others.has(id))
  return {
    clock: workerd === undefined ? undefined : processorClock(workerd),
    get: async (query) => {
      const answer = await miniflare.dispatchFetch(`http://bench/?${new URLSearchParams(query)}`)
      await answer.text()
      return answer
    },
    stop: () => miniflare.dispose(),
  }
}
