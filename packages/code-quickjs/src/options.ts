import type { SessionLimits } from './protocol.ts'

/** How a QuickJS engine is set up. */
export interface QuickJsCodeOptions {
  /** Memory of one run or context, in bytes, 16 MiB at least. Default 64 MiB, in workerd 32 MiB. */
  readonly memoryBytes?: number
  /** Stack of the code, in bytes. Default 192 KiB. */
  readonly stackBytes?: number
  /** Bytes of output and result that a run returns; what is beyond is named. Default 1 MiB. */
  readonly maxOutputBytes?: number
  /** Bytes of displays, such as images, that a run returns. Default 8 MiB. */
  readonly maxDisplayBytes?: number
  /** Time of a run that sets none, in milliseconds. Default 30,000. */
  readonly defaultTimeoutMs?: number
  /** Contexts that one workspace may have open. Default 8. */
  readonly maxContexts?: number
}

/** The same with its defaults. */
export interface QuickJsSettings {
  readonly limits: SessionLimits
  readonly defaultTimeoutMs: number
  readonly maxContexts: number
}

const KIB = 1024
const MIB = 1024 * KIB

/** The settings of an engine. */
export function readSettings(options: QuickJsCodeOptions): QuickJsSettings {
  return {
    limits: {
      memoryBytes: options.memoryBytes ?? 64 * MIB,
      stackBytes: options.stackBytes ?? 192 * KIB,
      outputBytes: options.maxOutputBytes ?? MIB,
      displayBytes: options.maxDisplayBytes ?? 8 * MIB,
    },
    defaultTimeoutMs: options.defaultTimeoutMs ?? 30_000,
    maxContexts: options.maxContexts ?? 8,
  }
}
