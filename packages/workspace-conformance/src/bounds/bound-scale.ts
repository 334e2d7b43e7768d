/** How much of what is hostile is put before a tool. */
export interface BoundScale {
  /** Bytes of a text file; at most the 10 MB that the default policy allows. */
  readonly textBytes: number
  /** Bytes of a text file in which a search makes little headway. */
  readonly slowTextBytes: number
  /** Files of a directory. */
  readonly entries: number
  /** Edits of one call. */
  readonly edits: number
  /** Depth of a planted tree. */
  readonly depth: number
  /** Bytes of a planted sparse file. */
  readonly sparseBytes: number
}

const MB = 1_048_576

/** Small enough for every test run. */
export const SAMPLE_SCALE: BoundScale = {
  textBytes: 2 * MB,
  slowTextBytes: MB / 2,
  entries: 1_200,
  edits: 500,
  depth: 400,
  sparseBytes: 512 * MB,
}

/** What a hostile model can make, up to the limits of the default policy. */
export const WHOLE_SCALE: BoundScale = {
  textBytes: 10 * MB,
  slowTextBytes: 10 * MB,
  entries: 100_000,
  edits: 10_000,
  depth: 30_000,
  sparseBytes: 8192 * MB,
}
