import { type FileStat, parentPath, type WriteOptions } from '@helix-agents/core/provider'
import { BLOCK_BYTES } from '../content/cut-blocks.ts'
import type { NewData } from '../content/new-data.ts'
import { isOwn, newContentId } from '../content/store-content.ts'
import type { ViewAnswer } from '../sql/database.ts'
import type { Namespace } from '../namespaces/namespaces.ts'
import type { StoreContext } from '../store-context.ts'
import { type Content, flags, hasFlag, type TreeNode } from '../tree/node.ts'
import { placeOf } from '../tree/place.ts'
import { fits } from '../tree/quota.ts'
import { toStat, versionToken } from '../tree/stat.ts'
import type { Write } from '../tree/write-target.ts'

/**
 * Stores data of one block where all that decides about it is known already: one statement, which
 * also makes sure that it still holds. Undefined: nothing was done, and the usual way has to find
 * out. It also has the errors; this knows only success.
 */
export function writeKnown(
  context: StoreContext,
  write: Write,
  data: NewData,
): FileStat | undefined {
  const { known } = context.shared
  const { version } = known
  if (version === undefined || known.nextVersion(version) !== version + 1) return undefined
  const { length } = data.bytes
  if (length === 0 || length > BLOCK_BYTES) return undefined
  const before = known.node(context.namespace.id, write.path)
  const content =
    before === undefined
      ? newContent(context, write, version + 1)
      : contentInPlaceOf(context, before, write.options)
  if (content === undefined) return undefined
  const stored = { ...content, size: length, flags: data.flags }
  const node = { content: stored, modifiedMs: context.now(), version: version + 1 }
  return put(context, { write, before, node, bytes: data.bytes })
}

interface KnownChange {
  readonly write: Write
  readonly before: TreeNode | undefined
  readonly node: TreeNode & { readonly content: Content }
  readonly bytes: Uint8Array
}

function put(context: StoreContext, change: KnownChange): FileStat | undefined {
  const { known } = context.shared
  const { write, before, node } = change
  const used = known.usage(context.namespace.id)
  const sizes = { before: before?.content?.size ?? 0, after: node.content.size }
  const growth = { bytes: sizes.after - sizes.before, files: before === undefined ? 1 : 0 }
  if (used === undefined || !fits(context, used, { sizes, growth })) return undefined
  const answer = run(context, change)
  if (answer === 'outdated') known.forget()
  if (answer !== 'done') return undefined
  known.observeChange(context.namespace.id, write.path, { node, growth })
  return toStat(context, write.path, node)
}

function run(context: StoreContext, { write, before, node, bytes }: KnownChange): ViewAnswer {
  const { database, namespace } = context
  const { change, add } = viewStatements(namespace, node.content.flags)
  const { directory, name } = placeOf(write.path)
  const { modifiedMs, version } = node
  if (before === undefined) {
    return database.runOnView(add, directory, name, modifiedMs, version, bytes)
  }
  return database.runOnView(change, directory, name, node.content.id, modifiedMs, version, bytes)
}

type OneBlock = Pick<Content, 'id' | 'blocks'>

/** The content in place of one that is known. Undefined: the write may not be allowed. */
function contentInPlaceOf(
  context: StoreContext,
  before: TreeNode,
  options: WriteOptions | undefined,
): OneBlock | undefined {
  const { content } = before
  if (content?.blocks !== 1 || hasFlag(content, flags.spilled)) return undefined
  if (options?.ifAbsent || !isOwn(context, content)) return undefined
  const wanted = options?.ifVersion
  return wanted === undefined || wanted === versionToken(context, before) ? content : undefined
}

/** The content of a path that may be new. Undefined: the write may not be allowed. */
function newContent(
  context: StoreContext,
  { path, options }: Write,
  version: number,
): OneBlock | undefined {
  if (path === '/' || options?.ifVersion !== undefined) return undefined
  if (!isKnownDirectory(context, parentPath(path))) return undefined
  return { id: newContentId({ version }), blocks: 1 }
}

function isKnownDirectory(context: StoreContext, path: string): boolean {
  if (path === '/') return true
  const node = context.shared.known.node(context.namespace.id, path)
  return node !== undefined && node.content === undefined
}

/** Inserts into the views `changes` and `additions`. */
interface ViewStatements {
  /** Binds directory, name, content, mtime, version and data. */
  readonly change: string
  /** Binds directory, name, mtime, version and data. */
  readonly add: string
}

const statements = new WeakMap<Namespace, ViewStatements[]>()

/**
 * The statements for a namespace and the flags of a content. Both are numbers that stand in the
 * text: they are few, and bound anew for every write they would cost more than the write of a node.
 */
function viewStatements(namespace: Namespace, contentFlags: number): ViewStatements {
  let ofNamespace = statements.get(namespace)
  if (ofNamespace === undefined) {
    ofNamespace = []
    statements.set(namespace, ofNamespace)
  }
  return (ofNamespace[contentFlags] ??= {
    change: `INSERT INTO helix_fs_changes VALUES (${namespace.id}, ${contentFlags}, ?, ?, ?, ?, ?, ?)`,
    add: `INSERT INTO helix_fs_additions VALUES (${namespace.id}, ${contentFlags}, ?, ?, ?, ?, ?)`,
  })
}
