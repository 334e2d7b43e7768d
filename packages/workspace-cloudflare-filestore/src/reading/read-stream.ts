import { FileSystemError } from '@helix-agents/core'
import { normalizePath, type ReadStreamOptions } from '@helix-agents/core/provider'
import { releaseRetained } from '../content/release-content.ts'
import { asking } from '../objects/object-store.ts'
import { bytesOf, numberOf, optionalNumberOf } from '../sql/columns.ts'
import type { StoreContext } from '../store-context.ts'
import { requireNode } from '../tree/find-node.ts'
import { BLOCKS_PER_CONTENT, type Content } from '../tree/node.ts'
import { contentMissing, openObject } from './read-object.ts'

/** The block at which a range starts, and where in it. Sizes stand before the data in a row. */
const FIND_START = `SELECT id, start FROM (
    SELECT id, sum(size) OVER (ORDER BY id) - size AS start
    FROM helix_fs_blocks WHERE id >= ? AND id < ?
  ) WHERE start <= ? ORDER BY id DESC LIMIT 1`

/**
 * A range of a file, piece by piece. The content at the time of the call is what is read: it is
 * held until the stream ends, and nothing but appends touches it.
 */
export function openReadStream(
  context: StoreContext,
  path: string,
  options: ReadStreamOptions,
): ReadableStream<Uint8Array> {
  const normal = normalizePath(path)
  const { content } = requireNode(context, normal)
  if (content === undefined) throw new FileSystemError('is-directory', path)
  const start = Math.max(0, options.offset ?? 0)
  const end = Math.min(start + (options.length ?? Infinity), content.size)
  const cursor = new ContentCursor(context, path, { content, start, end })
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          options.signal?.throwIfAborted()
          const piece = await cursor.next()
          if (piece !== undefined) return controller.enqueue(piece)
          cursor.close()
          controller.close()
        } catch (error) {
          cursor.close()
          throw error
        }
      },
      async cancel(reason) {
        await cursor.cancel(reason)
      },
    },
    { highWaterMark: 0 },
  )
}

/** Walks over the bytes of a content. */
class ContentCursor {
  readonly #context: StoreContext
  readonly #path: string
  readonly #contentId: number
  #blockId: number
  /** Bytes of the current block that lie before the range. */
  #skip: number
  #left: number
  #reader: ReadableStreamDefaultReader<Uint8Array> | undefined
  #objectLeft = 0
  #isOpen = true

  constructor(
    context: StoreContext,
    path: string,
    range: { readonly content: Content; readonly start: number; readonly end: number },
  ) {
    this.#context = context
    this.#path = path
    this.#contentId = range.content.id
    const found = range.end > range.start ? this.#findStart(range.start) : undefined
    this.#blockId = found === undefined ? range.content.id : numberOf(found, 'id')
    this.#skip = found === undefined ? 0 : range.start - numberOf(found, 'start')
    this.#left = Math.max(0, range.end - range.start)
    context.shared.contents.retain(this.#contentId)
  }

  /** The next bytes, or undefined at the end. */
  async next(): Promise<Uint8Array | undefined> {
    if (this.#reader !== undefined) return this.#nextOfObject(this.#reader)
    if (this.#left === 0) return undefined
    const row = this.#context.database.get(
      'SELECT size, object, data FROM helix_fs_blocks WHERE id = ?',
      this.#blockId,
    )
    if (row === undefined) throw contentMissing(this.#path)
    const length = Math.min(numberOf(row, 'size') - this.#skip, this.#left)
    const object = optionalNumberOf(row, 'object')
    if (object !== undefined) return this.#openBlock({ object, length })
    const piece = bytesOf(row, 'data').subarray(this.#skip, this.#skip + length)
    this.#pass(length)
    this.#toNextBlock()
    return piece
  }

  /** Releases the content. */
  close(): void {
    if (!this.#isOpen) return
    this.#isOpen = false
    releaseRetained(this.#context, this.#contentId)
  }

  async cancel(reason: unknown): Promise<void> {
    this.close()
    await this.#reader?.cancel(reason)
  }

  async #openBlock(block: {
    readonly object: number
    readonly length: number
  }): Promise<Uint8Array | undefined> {
    const range = { offset: this.#skip, length: block.length }
    const { body } = await openObject(this.#context, this.#path, block, range)
    const reader = body.getReader()
    this.#reader = reader
    this.#objectLeft = block.length
    return this.#nextOfObject(reader)
  }

  async #nextOfObject(
    reader: ReadableStreamDefaultReader<Uint8Array>,
  ): Promise<Uint8Array | undefined> {
    const { done, value } = await asking(() => reader.read())
    if (!done) {
      this.#objectLeft -= value.length
      this.#pass(value.length)
      return value
    }
    // An object that ends early is damaged: no shorter file is made of it.
    if (this.#objectLeft !== 0) throw contentMissing(this.#path)
    this.#reader = undefined
    this.#toNextBlock()
    return this.next()
  }

  #pass(length: number): void {
    this.#left -= length
  }

  #toNextBlock(): void {
    this.#blockId += 1
    this.#skip = 0
  }

  #findStart(offset: number): ReturnType<StoreContext['database']['get']> {
    return this.#context.database.get(
      FIND_START,
      this.#contentId,
      this.#contentId + BLOCKS_PER_CONTENT,
      offset,
    )
  }
}
