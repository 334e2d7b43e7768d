// The entry point in workerd, which has no threads and takes WebAssembly only as a module.
import wasm from '#wasm/quickjs.wasm'
import type { CodeEngine } from '@helix-agents/core/provider'
import { createEngine } from './engine.ts'
import { type QuickJsCodeOptions, readSettings } from './options.ts'
import { InlineSeat } from './seat/inline-seat.ts'

export type { QuickJsCodeOptions } from './options.ts'

/** An isolate has 128 MB for all that it does. */
const MEMORY_BYTES = 32 * 1024 * 1024

/**
 * A code engine for JavaScript and TypeScript in QuickJS. Pass it to a provider as `code`. In workerd
 * it runs in the isolate of the object: `memoryBytes` and the time of a run are its bounds.
 */
export function quickJsCode(options: QuickJsCodeOptions = {}): CodeEngine {
  const settings = readSettings({ memoryBytes: MEMORY_BYTES, ...options })
  return createEngine(settings, () => new InlineSeat(wasm, settings.limits))
}
