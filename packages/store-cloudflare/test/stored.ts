import { runInDurableObject } from 'cloudflare:test'
import type { SequencedChunk, StreamManager } from '@helix-agents/core/runtime'
import type { DOStateStore, DurableObjectStores } from '@helix-agents/store-cloudflare'
import type { StoreObject } from './worker.ts'

export type StoreStub = DurableObjectStub<StoreObject>

/** Does something with the stores of an object, inside it. */
export function withStores<T>(
  stub: StoreStub,
  work: (stores: DurableObjectStores, storage: DurableObjectStorage) => Promise<T>,
): Promise<T> {
  return runInDurableObject(stub, (object: StoreObject, { storage }) => {
    if (object.stores === undefined) throw new Error('the stores are not open')
    return work(object.stores, storage)
  })
}

/** The session store of an object: each call runs inside whatever instance it has by then. */
export function remoteStore(stub: StoreStub): DOStateStore {
  return within<DOStateStore>((call) => withStores(stub, ({ stateStore }) => call(stateStore)))
}

/** The streams of an object; their writers and readers run inside it as well. */
export function remoteStreams(stub: StoreStub): StreamManager {
  const inside = <T>(work: () => Promise<T>): Promise<T> => withStores(stub, work)
  const streams = within<StreamManager>((call) =>
    withStores(stub, ({ streamManager }) => call(streamManager)),
  )
  const start =
    (method: 'startRun' | 'resumeRun'): StreamManager['startRun'] =>
    async (...names) => {
      const writer = await streams[method](...names)
      return { write: (chunk) => inside(() => writer.write(chunk)) }
    }
  return {
    startRun: start('startRun'),
    resumeRun: start('resumeRun'),
    endRun: (...args) => streams.endRun(...args),
    deleteStream: (streamId) => streams.deleteStream(streamId),
    read: async (...args) => {
      const chunks = await streams.read(...args)
      return chunks === null ? null : remoteReader(chunks, inside)
    },
  }
}

type Inside = <T>(work: () => Promise<T>) => Promise<T>

function remoteReader(
  chunks: AsyncIterable<SequencedChunk>,
  inside: Inside,
): AsyncIterable<SequencedChunk> {
  return {
    [Symbol.asyncIterator]: () => {
      const reader = chunks[Symbol.asyncIterator]()
      return {
        next: () => inside(() => reader.next()),
        return: () =>
          inside(async () => (await reader.return?.()) ?? { done: true, value: undefined }),
      }
    },
  }
}

/** An object whose methods run where `enter` says. */
function within<T extends object>(
  enter: (call: (target: T) => Promise<unknown>) => Promise<unknown>,
): T {
  return new Proxy({} as T, {
    get: (_, name) => {
      if (name === 'then') return undefined
      return (...args: readonly unknown[]) =>
        enter((target) => Reflect.apply(Reflect.get(target, name) as never, target, args))
    },
  })
}
