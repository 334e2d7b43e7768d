import { FileSystemError } from '@helix-agents/core'

export interface QuotaLimits {
  readonly maxTotalBytes: number
  readonly maxFileBytes: number
}

const DEFAULT_MAX_TOTAL_BYTES = 512 * 1024 * 1024

export function limitsWithDefaults(limits: Partial<QuotaLimits>): QuotaLimits {
  return {
    maxTotalBytes: limits.maxTotalBytes ?? DEFAULT_MAX_TOTAL_BYTES,
    maxFileBytes: limits.maxFileBytes ?? Infinity,
  }
}

/** Counts the bytes of a file system and rejects what is over its limits. */
export class Quota {
  #limits: QuotaLimits
  usedBytes = 0

  constructor(limits: QuotaLimits) {
    this.#limits = limits
  }

  limit(limits: QuotaLimits): void {
    this.#limits = limits
  }

  /** Checks a replacement of one file before anything is allocated. */
  checkFile(path: string, oldBytes: number, newBytes: number): void {
    const limit = this.#limits.maxFileBytes
    if (newBytes > limit && newBytes > oldBytes) {
      throw new FileSystemError('too-large', path, {
        detail: `${newBytes} bytes, the limit is ${limit}`,
      })
    }
    this.checkTotal(path, newBytes - oldBytes)
  }

  /** Shrinking is always allowed: it is the way out of a full workspace. */
  checkTotal(path: string, addedBytes: number): void {
    const total = this.usedBytes + addedBytes
    const limit = this.#limits.maxTotalBytes
    if (total <= limit || addedBytes <= 0) return
    throw new FileSystemError('storage-full', path, {
      detail: `all files together would have ${total} bytes, the limit is ${limit}`,
      hint: 'Remove files that are not needed any more.',
    })
  }
}
