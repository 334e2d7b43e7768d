import { FileSystemError } from '@helix-agents/core'
import { MIN_INNER_BLOCK_BYTES } from '../content/rewrite-blocks.ts'
import { readText } from '../reading/read-file.ts'
import { numberOf, textOf } from '../sql/columns.ts'
import type { StoreContext } from '../store-context.ts'
import { findNode } from '../tree/find-node.ts'
import { BLOCKS_PER_CONTENT, type Content, flags, hasFlag } from '../tree/node.ts'
import type { WalkedFile } from './walk.ts'

/** Gets the texts of files that may hold a match. */
export interface TextLoader {
  /**
   * Texts of the files of one block, by content id; null: it cannot match. A file that has another
   * content by now is left out.
   */
  load(files: readonly WalkedFile[]): ReadonlyMap<number, string | null>
  /** The text of a file that was left out, or undefined when it cannot match or is gone. */
  loadAlone(file: WalkedFile): Promise<string | undefined>
}

/** @param literal bytes that every match holds; undefined: nothing is certain. */
export function createTextLoader(
  context: StoreContext,
  literal: Uint8Array | undefined,
): TextLoader {
  return {
    load: (files) => loadSmall(context, files.filter(isSmall), literal),
    loadAlone: async (file) => {
      if (file.content.blocks === 0) return undefined
      if (literal !== undefined && !isSmall(file) && !mayHold(context, file, literal)) {
        return undefined
      }
      return readIfPresent(context, file)
    },
  }
}

function isSmall(file: WalkedFile): boolean {
  return file.content.blocks === 1 && !hasFlag(file.content, flags.spilled)
}

function loadSmall(
  context: StoreContext,
  files: readonly WalkedFile[],
  literal: Uint8Array | undefined,
): ReadonlyMap<number, string | null> {
  const texts = new Map<number, string | null>()
  if (files.length === 0) return texts
  const marks = files.map(() => '?').join(', ')
  const text = 'CAST(data AS TEXT)'
  const wanted = literal === undefined ? text : `CASE WHEN instr(data, ?) > 0 THEN ${text} END`
  const rows = context.database.all(
    `SELECT id, ${wanted} AS text FROM helix_fs_blocks WHERE id IN (${marks})`,
    ...(literal === undefined ? [] : [literal]),
    ...files.map((file) => file.content.id),
  )
  for (const row of rows) {
    texts.set(numberOf(row, 'id'), row.text === null ? null : textOf(row, 'text'))
  }
  return texts
}

/** A block, or the seam between it and the next, holds the literal. */
const HOLDS = `SELECT 1 AS found FROM helix_fs_blocks a
  LEFT JOIN helix_fs_blocks b ON b.id = a.id + 1 AND b.id < ?2
  WHERE a.id >= ?1 AND a.id < ?2 AND (
    instr(a.data, ?3) > 0
    OR instr(CAST(CAST(substr(a.data, ?4) AS TEXT) || CAST(substr(b.data, 1, ?5) AS TEXT) AS BLOB), ?3) > 0
  ) LIMIT 1`

function mayHold(context: StoreContext, file: WalkedFile, literal: Uint8Array): boolean {
  const { content, path } = file
  // A longer one could span three blocks; and what is in the bucket must be read to be known.
  if (literal.length > MIN_INNER_BLOCK_BYTES || hasFlag(content, flags.spilled)) return true
  const overlap = literal.length - 1
  const found = context.database.get(
    HOLDS,
    content.id,
    content.id + BLOCKS_PER_CONTENT,
    literal,
    // From an end of 0 bytes, `substr` would take the whole block.
    -Math.max(overlap, 1),
    overlap,
  )
  return found !== undefined || !isStillThere(context, path, content)
}

function isStillThere(context: StoreContext, path: string, content: Content): boolean {
  return findNode(context, path)?.content?.id === content.id
}

/** A file may vanish or grow while others are searched. */
async function readIfPresent(context: StoreContext, file: WalkedFile): Promise<string | undefined> {
  try {
    return await readText(context, file.path)
  } catch (error) {
    if (isGone(error)) return undefined
    throw error
  }
}

const GONE: readonly string[] = ['not-found', 'is-directory', 'too-large']

function isGone(error: unknown): boolean {
  return FileSystemError.isInstance(error) && GONE.includes(error.code)
}
