import type { BigIntStats } from 'node:fs'
import { FileSystemError } from '@helix-agents/core'
import type { Containment } from './path/containment.ts'
import type { Versions } from './version.ts'

const SMALL_BYTES = 256 * 1024

/** Whether the system is asked synchronously for so many bytes: faster than a thread by far. */
export function isSmall(bytes: number): boolean {
  return bytes <= SMALL_BYTES
}

/** What the operations of one file system share. */
export interface FileContext {
  readonly containment: Containment
  readonly versions: Versions
  readonly proven: ProvenFiles
  /** Host directory on the same file system, out of the agent's sight, for unfinished files. */
  readonly scratch: string
  /** Largest file that may be made. */
  readonly maxFileBytes: number
  /**
   * Brings missing directories of the workspace back.
   * @throws {WorkspaceEvictedError} `lost` when the whole workspace is gone.
   */
  restore(): void
}

const MAX_PROVEN = 8192

/**
 * Files that were proven to lie in the workspace, by inode and change time. Moving or linking a
 * file changes its change time, so an open file found here needs no second proof, by whatever
 * path it was opened. Only of use where change times are exact.
 */
export class ProvenFiles {
  readonly #enabled: boolean
  readonly #changeTimes = new Map<bigint, bigint>()
  readonly #devices = new Set<bigint>()

  constructor(enabled: boolean) {
    this.#enabled = enabled
  }

  has(stats: BigIntStats): boolean {
    return this.#changeTimes.get(stats.ino) === stats.ctimeNs && this.#devices.has(stats.dev)
  }

  add(stats: BigIntStats): void {
    if (!this.#enabled || (this.#devices.size > 0 && !this.#devices.has(stats.dev))) return
    if (this.#changeTimes.size >= MAX_PROVEN) this.#changeTimes.clear()
    this.#devices.add(stats.dev)
    this.#changeTimes.set(stats.ino, stats.ctimeNs)
  }
}

/** @throws {FileSystemError} `too-large`. */
export function checkSize(context: FileContext, path: string, bytes: number): void {
  if (bytes <= context.maxFileBytes) return
  throw new FileSystemError('too-large', path, {
    detail: `${bytes} bytes; the limit is ${context.maxFileBytes}`,
  })
}
