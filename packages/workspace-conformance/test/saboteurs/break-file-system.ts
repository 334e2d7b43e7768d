import { FileSystemError } from '@helix-agents/core'
import type { FileSystem } from '@helix-agents/core/provider'

export type FsSaboteur = (good: FileSystem) => FileSystem
type Method = Exclude<
  keyof FileSystem,
  'attributes' | 'watch' | 'readText' | 'realPath' | 'withoutLinks'
>
type Args<M extends Method> = Parameters<FileSystem[M]>
type Result<M extends Method> = Awaited<ReturnType<FileSystem[M]>>

/** Replaces methods. */
export const replace =
  (methods: (good: FileSystem) => Partial<FileSystem>): FsSaboteur =>
  (good) => ({ ...good, ...methods(good) })

/** Changes what a method returns. */
export const result = <M extends Method>(
  method: M,
  change: (value: Result<M>, ...args: Args<M>) => unknown,
): FsSaboteur =>
  replace((good) => ({
    [method]: async (...args: Args<M>) => {
      const call = good[method] as (...input: Args<M>) => Promise<Result<M>>
      return change(await call(...args), ...args)
    },
  }))

/** Changes what a method is given. */
export const input = <M extends Method>(
  method: M,
  change: (...args: Args<M>) => readonly unknown[],
): FsSaboteur =>
  replace((good) => ({
    [method]: (...args: Args<M>) => {
      const call = good[method] as (...given: readonly unknown[]) => Promise<unknown>
      return call(...change(...args))
    },
  }))

/** Reports an error with the wrong code. */
export const recode = (method: Method, ...codes: readonly string[]): FsSaboteur =>
  replace((good) => ({
    [method]: async (...args: unknown[]) => {
      const call = good[method] as (...given: unknown[]) => Promise<unknown>
      try {
        return await call(...args)
      } catch (error) {
        if (!FileSystemError.isInstance(error) || !codes.includes(error.code)) throw error
        throw new FileSystemError('permission-denied', error.path)
      }
    },
  }))

/** Does nothing, silently, where an error is due. */
export const swallow = (method: Method, value?: unknown): FsSaboteur =>
  replace((good) => ({
    [method]: async (...args: unknown[]) => {
      const call = good[method] as (...given: unknown[]) => Promise<unknown>
      return call(...args).catch(() => value)
    },
  }))
