import type { Readable } from 'node:stream'
import { OUTGOING_FRAME_BYTES } from '../limits.ts'

/** What is left to collect of one command, over both of its streams. */
export interface OutputBudget {
  bytesLeft: number
}

/** A budget that fills exactly one reply. */
export function newBudget(): OutputBudget {
  return { bytesLeft: OUTGOING_FRAME_BYTES }
}

/**
 * Collects a stream to its end. Past the budget it keeps reading, so that the command can end,
 * and keeps nothing: such a reply could not be sent anyway.
 */
export class CollectedOutput {
  #chunks: Buffer[] = []

  constructor(stream: Readable, budget: OutputBudget) {
    stream.on('data', (chunk: Buffer) => {
      budget.bytesLeft -= chunk.length
      if (budget.bytesLeft >= 0) this.#chunks.push(chunk)
      else this.#chunks = []
    })
  }

  /** All of it as text; bytes that are not UTF-8 become replacement characters. */
  text(): string {
    return Buffer.concat(this.#chunks).toString('utf8')
  }
}
