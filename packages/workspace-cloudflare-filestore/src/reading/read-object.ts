import { FileSystemError } from '@helix-agents/core'
import { asking } from '../objects/object-store.ts'
import { textOf } from '../sql/columns.ts'
import type { ObjectBody, ObjectRange } from '../ports.ts'
import type { StoreContext } from '../store-context.ts'

/** An object that a block points to. */
export interface BlockObject {
  /** Row of the object. */
  readonly object: number
  readonly size: number
}

/**
 * The whole content of an object.
 * @throws {FileSystemError} `content-missing`.
 */
export async function readObject(
  context: StoreContext,
  path: string,
  block: BlockObject,
): Promise<Uint8Array> {
  const found = await openObject(context, path, block)
  const bytes = new Uint8Array(await asking(() => found.arrayBuffer()))
  if (bytes.length !== block.size) throw contentMissing(path)
  return bytes
}

/** The object of a block, or a range of it. @throws {FileSystemError} `content-missing`. */
export async function openObject(
  context: StoreContext,
  path: string,
  block: Pick<BlockObject, 'object'>,
  range?: ObjectRange,
): Promise<ObjectBody> {
  const row = context.database.get('SELECT key FROM helix_fs_objects WHERE id = ?', block.object)
  if (row === undefined || context.objects === undefined) throw contentMissing(path)
  const found = await context.objects.read(textOf(row, 'key'), range)
  if (found === undefined) throw contentMissing(path)
  return found
}

/** The file is known but its content is gone: never the same as an empty file. */
export function contentMissing(path: string): FileSystemError {
  return new FileSystemError('content-missing', path)
}
