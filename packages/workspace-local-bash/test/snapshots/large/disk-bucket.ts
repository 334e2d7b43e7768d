import {
  createReadStream,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'

/** A range of an object, in bytes. */
interface ObjectRange {
  readonly offset: number
  readonly length: number
}

/**
 * The part of an R2 bucket that a file store uses. Its objects are files of a directory: what is in it
 * takes no memory of the process.
 */
export class DiskBucket {
  readonly #directory: string

  constructor(directory: string) {
    this.#directory = directory
    mkdirSync(directory)
  }

  /** Keys of all objects. */
  get keys(): readonly string[] {
    return readdirSync(this.#directory)
  }

  async head(key: string): Promise<object | null> {
    return existsSync(this.#pathOf(key)) ? {} : null
  }

  async get(key: string, { range }: { readonly range?: ObjectRange } = {}) {
    const path = this.#pathOf(key)
    if (!existsSync(path)) return null
    const { offset: start = 0, length = Infinity } = range ?? {}
    const bytes = async (): Promise<ArrayBuffer> => {
      const whole = Uint8Array.from(readFileSync(path).subarray(start, start + length))
      return whole.buffer
    }
    const stream = createReadStream(path, { start, end: start + length - 1 })
    return { body: Readable.toWeb(stream) as ReadableStream<Uint8Array>, arrayBuffer: bytes }
  }

  async put(key: string, value: Uint8Array): Promise<void> {
    writeFileSync(this.#pathOf(key), value)
  }

  async delete(keys: readonly string[]): Promise<void> {
    for (const key of keys) rmSync(this.#pathOf(key), { force: true })
  }

  #pathOf(key: string): string {
    return join(this.#directory, encodeURIComponent(key))
  }
}
