/** Blocks that are read together, each with its length. */
export interface BlockBatch {
  readonly hashes: readonly string[]
  readonly lengths: readonly number[]
}

/** Asks for one batch. */
export interface BatchRequest extends BlockBatch {
  readonly id: number
  /** Of the blocks of one scope. */
  readonly directory: string
  /** A number for each batch of the restore: 1 once somebody reads it. */
  readonly claims: SharedArrayBuffer
  readonly index: number
}

/** The blocks one behind the other; undefined when one of them cannot be used. */
export interface BatchAnswer {
  readonly id: number
  readonly bytes: Uint8Array<ArrayBuffer> | undefined
}
