import type { SnapshotStore } from '@helix-agents/core/provider'

/** The process ended here. */
export class Crash extends Error {
  override readonly name = 'Crash'
}

/** A store whose caller dies at one of its awaits: before a call, or after it was done. */
export function crashingAt(store: SnapshotStore, awaits: number): SnapshotStore {
  let left = awaits
  const step = (): void => {
    left -= 1
    if (left <= 0) throw new Crash()
  }
  return new Proxy(store, {
    get: (target, name) => {
      const method: unknown = Reflect.get(target, name)
      if (typeof method !== 'function') return method
      return async (...args: readonly unknown[]): Promise<unknown> => {
        step()
        const result: unknown = await Reflect.apply(method, target, args)
        step()
        return result
      }
    },
  })
}
