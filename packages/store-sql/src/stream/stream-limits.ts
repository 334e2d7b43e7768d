/** Bounds of a {@link SqlStreamManager}. */
export interface SqlStreamManagerOptions {
  /**
   * Chunks kept of the current run of each stream. A reader that falls further behind gets a
   * `stream_resync`. Default 10 000.
   */
  readonly maxBufferedChunks?: number
  /**
   * Bytes of JSON kept of the current run of each stream, at least its newest chunk; as soon as
   * there are more, an eighth is dropped with the rest. Default 67 108 864 (64 MiB).
   */
  readonly maxBufferedBytes?: number
  /**
   * Largest chunk in bytes of JSON, at least 4096. Of a larger one the biggest fields are cut down
   * and named in `truncated`. Default 1 048 576 (1 MiB): a value of a Durable Object takes 2 MB.
   */
  readonly maxChunkBytes?: number
}

/** The options with their defaults. */
export type StreamLimits = Required<SqlStreamManagerOptions>

const DEFAULTS: StreamLimits = {
  maxBufferedChunks: 10_000,
  maxBufferedBytes: 64 * 1024 * 1024,
  maxChunkBytes: 1024 * 1024,
}

/** Room for the names of all fields, and for a piece of each. */
const MIN_CHUNK_BYTES = 4096

/** @throws {RangeError} for a limit that is no whole number, or too small. */
export function parseStreamLimits(options: SqlStreamManagerOptions): StreamLimits {
  return {
    maxBufferedChunks: limit(options, 'maxBufferedChunks', 1),
    maxBufferedBytes: limit(options, 'maxBufferedBytes', 1),
    maxChunkBytes: limit(options, 'maxChunkBytes', MIN_CHUNK_BYTES),
  }
}

function limit(options: SqlStreamManagerOptions, name: keyof StreamLimits, least: number): number {
  const value = options[name] ?? DEFAULTS[name]
  if (Number.isSafeInteger(value) && value >= least) return value
  throw new RangeError(`${name} must be a whole number of at least ${least}, not ${value}`)
}
