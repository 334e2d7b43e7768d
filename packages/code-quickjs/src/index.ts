import type { CodeEngine } from '@helix-agents/core/provider'
import { createEngine } from './engine.ts'
import { type QuickJsCodeOptions, readSettings } from './options.ts'
import { compileWasm } from './seat/compile-wasm.ts'
import { ThreadPool } from './seat/thread-pool.ts'
import { ThreadSeat } from './seat/thread-seat.ts'

export type { QuickJsCodeOptions } from './options.ts'

/**
 * A code engine for JavaScript and TypeScript in QuickJS. Pass it to a provider as `code`. In Node each
 * run and each context has a thread, so that no code holds up the event loop.
 */
export function quickJsCode(options: QuickJsCodeOptions = {}): CodeEngine {
  let compiled: Promise<WebAssembly.Module> | undefined
  const settings = readSettings(options)
  const pool = new ThreadPool(() => (compiled ??= compileWasm()), settings.limits)
  return createEngine(settings, () => new ThreadSeat(pool))
}
