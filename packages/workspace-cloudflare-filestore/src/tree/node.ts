import { numberOf, optionalNumberOf } from '../sql/columns.ts'
import type { FileStoreSqlRow } from '../ports.ts'

/** Bits of the column `flags`. */
export const flags = {
  /** Other nodes may have the same content. */
  shared: 1,
  /** It holds a NUL. */
  binary: 2,
  /** UTF-8, and no block ends within a character. */
  text: 4,
  /** Some of its blocks are objects of the bucket. */
  spilled: 8,
} as const

/** Ids of the blocks of a content are from its id to before its id plus this. */
export const BLOCKS_PER_CONTENT = 2 ** 20

/** What a file holds, as blocks. */
export interface Content {
  readonly id: number
  readonly size: number
  readonly blocks: number
  readonly flags: number
}

/** A row of the table of nodes. */
export interface TreeNode {
  /** Undefined for a directory. */
  readonly content: Content | undefined
  readonly modifiedMs: number
  readonly version: number
}

export const NODE_COLUMNS = 'n.content, n.size, n.blocks, n.flags, n.mtime, n.version'

/** Reads the columns of {@link NODE_COLUMNS}. */
export function toNode(row: FileStoreSqlRow): TreeNode {
  return {
    content: toContent(row),
    modifiedMs: numberOf(row, 'mtime'),
    version: numberOf(row, 'version'),
  }
}

export function toContent(row: FileStoreSqlRow): Content | undefined {
  const id = optionalNumberOf(row, 'content')
  if (id === undefined) return undefined
  return {
    id,
    size: numberOf(row, 'size'),
    blocks: numberOf(row, 'blocks'),
    flags: numberOf(row, 'flags'),
  }
}

export function hasFlag(content: Content, flag: number): boolean {
  return (content.flags & flag) !== 0
}

/** What the files of a namespace use, all together. */
export interface Usage {
  readonly usedBytes: number
  /** Files and directories. */
  readonly usedFiles: number
}

/** What a change adds to the usage of a namespace; negative when it shrinks. */
export interface Growth {
  readonly bytes: number
  readonly files: number
}
