import { addBlocks, addObjectBlock } from '../content/add-blocks.ts'
import { cutBlocks } from '../content/cut-blocks.ts'
import { countObjectRefs } from '../content/object-refs.ts'
import { releaseRetained, unlinkContent } from '../content/release-content.ts'
import { newContentId } from '../content/store-content.ts'
import { numberOf } from '../sql/columns.ts'
import type { StoreContext } from '../store-context.ts'
import { BLOCKS_PER_CONTENT, type Content, flags } from '../tree/node.ts'
import { allocateVersion } from '../tree/store-node.ts'

/**
 * A content that is built piece by piece, unseen until a node refers to it. It is unlinked until then:
 * when the isolate ends, the collector removes what was built.
 */
export class StagedContent {
  readonly #context: StoreContext
  #content: Content | undefined

  constructor(context: StoreContext) {
    this.#context = context
  }

  get isBegun(): boolean {
    return this.#content !== undefined
  }

  /** Adds bytes, which must not change until this resolves: to the bucket if there is one. */
  async add(bytes: Uint8Array<ArrayBuffer>): Promise<void> {
    const { database, objects } = this.#context
    const content = this.#begin()
    if (objects === undefined) {
      const pieces = cutBlocks({ bytes, flags: 0 })
      this.#content = database.transaction(() => addBlocks(this.#context, content, pieces))
      return
    }
    const object = await objects.store(bytes)
    try {
      this.#content = database.transaction(() => {
        const added = addObjectBlock(this.#context, content, object)
        return { ...added, flags: added.flags | flags.spilled }
      })
    } finally {
      object.release()
    }
  }

  /** Starts with the objects of another content, in their order. */
  copyObjects(from: Content): void {
    const staged = this.#begin()
    this.#content = this.#context.database.transaction(() => {
      const rows = this.#context.database.all(
        `INSERT INTO helix_fs_blocks (id, size, object)
          SELECT id - ?1 + ?3, size, object FROM helix_fs_blocks
          WHERE id >= ?1 AND id < ?2 AND object IS NOT NULL RETURNING size`,
        from.id,
        from.id + BLOCKS_PER_CONTENT,
        staged.id,
      )
      countObjectRefs(this.#context, staged.id, 1)
      const size = rows.reduce((sum, row) => sum + numberOf(row, 'size'), 0)
      return { ...staged, size, blocks: rows.length, flags: flags.spilled }
    })
  }

  /**
   * Ends the building: `store` refers a node to the content, in the same transaction.
   * @param moreFlags such as `binary`, known only now.
   */
  commit<T>(moreFlags: number, store: (content: Content) => T): T {
    const content = this.#begin()
    const result = this.#context.database.transaction(() => {
      const stored = store({ ...content, flags: content.flags | moreFlags })
      this.#context.database.run('DELETE FROM helix_fs_unlinked WHERE content = ?', content.id)
      return stored
    })
    this.#content = undefined
    this.#context.shared.contents.release(content.id)
    return result
  }

  /** Removes what was built, unless it was committed. */
  discard(): void {
    if (this.#content === undefined) return
    releaseRetained(this.#context, this.#content.id)
    this.#content = undefined
  }

  #begin(): Content {
    if (this.#content !== undefined) return this.#content
    const id = this.#context.database.transaction(() => {
      const contentId = newContentId({ version: allocateVersion(this.#context) })
      unlinkContent(this.#context, contentId)
      return contentId
    })
    this.#context.shared.contents.retain(id)
    this.#content = { id, size: 0, blocks: 0, flags: 0 }
    return this.#content
  }
}
