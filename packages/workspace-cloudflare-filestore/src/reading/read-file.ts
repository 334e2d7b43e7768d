import { FileSystemError } from '@helix-agents/core'
import { decodeText, normalizePath } from '@helix-agents/core/provider'
import { releaseRetained } from '../content/release-content.ts'
import { bytesOf, numberOf, optionalNumberOf, textOf } from '../sql/columns.ts'
import type { FileStoreSqlRow } from '../ports.ts'
import { readKnown } from '../known/read-known.ts'
import type { StoreContext } from '../store-context.ts'
import { notFound, observeNode } from '../tree/find-node.ts'
import { BLOCKS_PER_CONTENT, type Content, flags, hasFlag, NODE_COLUMNS } from '../tree/node.ts'
import { placeOf } from '../tree/place.ts'
import { readObject } from './read-object.ts'

/** All of a file in one statement; of one that is too large, only how large it is. */
const READ = (data: string): string => `SELECT ${NODE_COLUMNS},
    (SELECT version FROM helix_fs_state) AS counter, b.object, b.size AS block_size, ${data} AS data
  FROM helix_fs_nodes n
  LEFT JOIN helix_fs_blocks b
    ON b.id >= n.content AND b.id < n.content + ${BLOCKS_PER_CONTENT} AND n.size <= ?4
  WHERE n.namespace = ?1 AND n.directory = ?2 AND n.name = ?3
  ORDER BY b.id`

const READ_BYTES = READ('b.data')

/** Decoded by the database, the same way, where no character spans two blocks. */
const READ_TEXT =
  READ(`CASE WHEN n.blocks = 1 OR n.flags & ${flags.text | flags.spilled} = ${flags.text}
  THEN CAST(b.data AS TEXT) ELSE b.data END`)

interface FileRows {
  readonly path: string
  readonly content: Content
  readonly rows: readonly FileStoreSqlRow[]
}

/** The bytes of a file, in memory that belongs to the caller. */
export function readFile(context: StoreContext, path: string): Uint8Array | Promise<Uint8Array> {
  const normal = normalizePath(path)
  const known = readKnown(context, normal, 'bytes')
  if (known !== undefined) return bytesOf(known, 'data')
  return bytesOfFile(context, readRows(context, READ_BYTES, normal))
}

/** The text of a file; invalid UTF-8 becomes U+FFFD. */
export function readText(context: StoreContext, path: string): string | Promise<string> {
  const normal = normalizePath(path)
  const known = readKnown(context, normal, 'text')
  if (known !== undefined) return textOf(known, 'data')
  const file = readRows(context, READ_TEXT, normal)
  if (file.content.blocks === 0) return ''
  const isText = file.rows.every((row) => typeof row.data === 'string')
  if (isText) return file.rows.map((row) => textOf(row, 'data')).join('')
  const bytes = bytesOfFile(context, file)
  return bytes instanceof Promise ? bytes.then(decodeText) : decodeText(bytes)
}

function readRows(context: StoreContext, statement: string, path: string): FileRows {
  const { directory, name } = placeOf(path)
  const limit = context.limits.maxWholeReadBytes
  const rows = context.database.all(statement, context.namespace.id, directory, name, limit)
  const [first] = rows
  if (first === undefined) {
    if (path === '/') throw new FileSystemError('is-directory', path)
    throw notFound(context, path)
  }
  const { content } = observeNode(context, path, first)
  if (content === undefined) throw new FileSystemError('is-directory', path)
  if (content.size <= limit) return { path, content, rows }
  throw new FileSystemError('too-large', path, {
    detail: `${content.size} bytes; at most ${limit} are read at once`,
    hint: 'Read it in ranges, or as a stream.',
  })
}

/** What is in the database is there at once. */
function bytesOfFile(context: StoreContext, file: FileRows): Uint8Array | Promise<Uint8Array> {
  const { content, rows } = file
  const [only] = rows
  if (content.blocks === 0 || only === undefined) return new Uint8Array(0)
  if (content.blocks === 1 && only.object === null) return bytesOf(only, 'data')
  const whole = new Uint8Array(content.size)
  if (hasFlag(content, flags.spilled)) return fillFromBucket(context, file, whole)
  let at = 0
  for (const row of rows) {
    const bytes = bytesOf(row, 'data')
    whole.set(bytes, at)
    at += bytes.length
  }
  return whole
}

async function fillFromBucket(
  context: StoreContext,
  file: FileRows,
  whole: Uint8Array,
): Promise<Uint8Array> {
  const { content, rows } = file
  context.shared.contents.retain(content.id)
  try {
    let at = 0
    for (const row of rows) {
      const size = numberOf(row, 'block_size')
      const object = optionalNumberOf(row, 'object')
      const bytes =
        object === undefined
          ? bytesOf(row, 'data')
          : await readObject(context, file.path, { object, size })
      whole.set(bytes, at)
      at += size
    }
    return whole
  } finally {
    releaseRetained(context, content.id)
  }
}
