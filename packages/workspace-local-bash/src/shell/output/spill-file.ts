import { closeSync, openSync, rmSync, writeSync } from 'node:fs'
import { CREATE } from '../../file-system/path/open-flags.ts'

/** Stores a whole output on disk, up to a limit. */
export class SpillFile {
  readonly hostPath: string
  readonly #maxBytes: number
  #fd: number | undefined
  #bytes = 0
  #isWhole = true

  constructor(hostPath: string, maxBytes: number) {
    this.hostPath = hostPath
    this.#maxBytes = maxBytes
  }

  /** Nothing is missing. */
  get isWhole(): boolean {
    return this.#isWhole
  }

  /** Adds to the end. Over the limit, or when the disk is full, the rest is not stored. */
  write(piece: Uint8Array): void {
    if (!this.#isWhole) return
    try {
      this.#fd ??= openSync(this.hostPath, CREATE, 0o644)
      const part = piece.subarray(0, this.#maxBytes - this.#bytes)
      for (let offset = 0; offset < part.length;) offset += writeSync(this.#fd, part, offset)
      this.#bytes += part.length
      if (part.length < piece.length) this.#isWhole = false
    } catch {
      this.#isWhole = false
    }
  }

  close(): void {
    const fd = this.#fd
    this.#fd = undefined
    if (fd !== undefined) closeSync(fd)
  }

  remove(): void {
    this.close()
    rmSync(this.hostPath, { force: true })
  }
}
