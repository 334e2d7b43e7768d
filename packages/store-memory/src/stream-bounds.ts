/** Bounds of an {@link InMemoryStreamManager}. */
export interface InMemoryStreamManagerOptions {
  /**
   * Chunks kept of the current run of each stream. A reader that falls further behind gets a
   * `stream_resync`. Default 10 000.
   */
  readonly maxBufferedChunks?: number
  /**
   * Bytes kept of the current run of each stream; its newest chunk is always kept. Above the limit
   * the oldest eighth is dropped as well. Default 67 108 864 (64 MiB).
   */
  readonly maxBufferedBytes?: number
  /**
   * Largest chunk in bytes of JSON, at least 4096. Of a larger one the biggest fields are cut down
   * and named in `truncated`. Default 1 048 576 (1 MiB).
   */
  readonly maxChunkBytes?: number
  /**
   * Bytes kept of all streams together whose run has ended. When there are more, those that ended
   * first lose their chunks: a reader gets a `stream_resync`, then the end. Default 67 108 864.
   */
  readonly maxEndedBytes?: number
}

/** The options with their defaults. */
export type StreamBounds = Required<InMemoryStreamManagerOptions>

const MIB = 1024 * 1024
/** Room for the names of all fields, and for a piece of each. */
const MIN_CHUNK_BYTES = 4096

const DEFAULTS: StreamBounds = {
  maxBufferedChunks: 10_000,
  maxBufferedBytes: 64 * MIB,
  maxChunkBytes: MIB,
  maxEndedBytes: 64 * MIB,
}

/** @throws {RangeError} for a bound that is no whole number, or too small. */
export function parseStreamBounds(options: InMemoryStreamManagerOptions): StreamBounds {
  return {
    maxBufferedChunks: bound(options, 'maxBufferedChunks', 1),
    maxBufferedBytes: bound(options, 'maxBufferedBytes', 1),
    maxChunkBytes: bound(options, 'maxChunkBytes', MIN_CHUNK_BYTES),
    maxEndedBytes: bound(options, 'maxEndedBytes', 0),
  }
}

function bound(
  options: InMemoryStreamManagerOptions,
  name: keyof StreamBounds,
  least: number,
): number {
  const value = options[name] ?? DEFAULTS[name]
  if (Number.isSafeInteger(value) && value >= least) return value
  throw new RangeError(`${name} must be a whole number of at least ${least}, not ${value}`)
}
