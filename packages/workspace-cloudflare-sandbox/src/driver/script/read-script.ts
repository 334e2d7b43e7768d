import { compose, limit } from './compose.ts'

/** A file up to this size is returned as it is when it holds no NUL. */
const PLAIN_BYTES = 16_384

export interface ReadRange {
  readonly offset: number
  readonly length?: number
  readonly maxBytes?: number
  /** A longer range is not sent, but named, to be streamed. */
  readonly inlineBytes: number
  /** It is known to be no text. */
  readonly isBinary: boolean
}

/**
 * The script that reads a file: answers `plain` with what may be text, `base64` with the bytes, or
 * `large` with the size and the path behind all links.
 */
export function readScript(path: string, range: ReadRange): string {
  const { offset, length, maxBytes, inlineBytes, isBinary } = range
  const isWhole = offset === 0 && length === undefined
  const plain = Math.min(PLAIN_BYTES, inlineBytes, maxBytes ?? PLAIN_BYTES)
  const values = {
    path,
    offset,
    length: limit(length),
    most: limit(maxBytes),
    inline: inlineBytes,
    plain: isWhole && !isBinary ? plain : undefined,
  }
  return compose(values, 'read')
}

/** The script that reads several files, until the next one would be too much. */
export function readManyScript(paths: readonly string[], maxBytes: number): string {
  return compose({ left: maxBytes, paths }, 'read-many')
}
