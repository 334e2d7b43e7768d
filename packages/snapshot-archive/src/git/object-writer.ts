import { createHash, randomUUID } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { access, mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createDeflate, deflateSync } from 'node:zlib'

/** Writes loose objects: a header and the content, deflated, under the SHA-1 of both. */
export class ObjectWriter {
  readonly #objects: string
  readonly #directories = new Set<string>()

  /** @param objects The directory `objects` of a repository. */
  constructor(objects: string) {
    this.#objects = objects
  }

  /** @returns the id of the object. */
  async write(type: 'blob' | 'tree' | 'commit', content: Uint8Array): Promise<string> {
    const header = headerOf(type, content.length)
    const id = createHash('sha1').update(header).update(content).digest('hex')
    const file = await this.#fileOf(id)
    if (!(await exists(file))) await writeFile(file, deflateSync(Buffer.concat([header, content])))
    return id
  }

  /** A blob of any size, in constant memory. @returns its id. */
  async writeBlob(size: number, content: AsyncIterable<Uint8Array>): Promise<string> {
    const temporary = join(this.#objects, `tmp_obj_${randomUUID()}`)
    const hash = createHash('sha1')
    const header = headerOf('blob', size)
    async function* hashed(): AsyncGenerator<Uint8Array> {
      hash.update(header)
      yield header
      for await (const part of content) {
        hash.update(part)
        yield part
      }
    }
    try {
      await pipeline(
        Readable.from(hashed(), { objectMode: false }),
        createDeflate({ level: 1 }),
        createWriteStream(temporary),
      )
      const id = hash.digest('hex')
      await rename(temporary, await this.#fileOf(id))
      return id
    } catch (error) {
      await rm(temporary, { force: true })
      throw error
    }
  }

  async #fileOf(id: string): Promise<string> {
    const file = join(this.#objects, id.slice(0, 2), id.slice(2))
    const directory = dirname(file)
    if (!this.#directories.has(directory)) await mkdir(directory, { recursive: true })
    this.#directories.add(directory)
    return file
  }
}

function headerOf(type: string, size: number): Buffer {
  return Buffer.from(`${type} ${size}\0`)
}

async function exists(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  )
}
