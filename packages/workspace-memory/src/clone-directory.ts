import { createTimeSlice, type SubtreeExtent, utf8Length } from '@helix-agents/core/provider'
import { DirectoryNode, FileNode } from './nodes.ts'

/** What the nodes of a copy get. */
export interface CloneStamp {
  nextVersion(): number
  readonly modifiedMs: number
}

/** Nodes between two checks of the clock. */
const NODES_PER_CHECK = 64
/** Checks that are a slice of time where the clock stands still. */
const CHECKS_WITHOUT_CLOCK = 64

/** A copy of a file that shares its content. */
export function cloneFile(file: FileNode, stamp: CloneStamp): FileNode {
  return new FileNode(file.content, file.size, stamp.nextVersion(), stamp.modifiedMs)
}

/** A copy of a directory, and its size. */
export interface DirectoryClone {
  readonly root: DirectoryNode
  /** Bytes of all files in it. */
  readonly bytes: number
}

/**
 * A copy of a directory that shares the contents. Yields to other work in a large one: what changes
 * in between may or may not be in the copy.
 * @param check called with the size so far, and with the final one; throws when it is too much.
 */
export async function cloneDirectory(
  source: DirectoryNode,
  stamp: CloneStamp,
  check: (bytes: number, extent: SubtreeExtent) => void,
): Promise<DirectoryClone> {
  const newDirectory = (): DirectoryNode => new DirectoryNode(stamp.nextVersion(), stamp.modifiedMs)
  const slice = createTimeSlice(undefined, CHECKS_WITHOUT_CLOCK)
  const root = newDirectory()
  const open = [{ source, copy: root, depth: 1, pathBytes: 0 }]
  let [nodes, bytes, depth, longest] = [0, 0, 0, 0]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (next.source.children.size > 0) depth = Math.max(depth, next.depth)
    for (const [name, child] of next.source.children) {
      const pathBytes = next.pathBytes + utf8Length(name) + 1
      longest = Math.max(longest, pathBytes)
      if (child instanceof FileNode) {
        next.copy.children.set(name, cloneFile(child, stamp))
        bytes += child.size
      } else {
        const copy = newDirectory()
        next.copy.children.set(name, copy)
        open.push({ source: child, copy, depth: next.depth + 1, pathBytes })
      }
      nodes += 1
      if (nodes % NODES_PER_CHECK !== 0 || !slice.due) continue
      check(bytes, { depth, bytes: longest })
      await slice.pause()
    }
  }
  check(bytes, { depth, bytes: longest })
  return { root, bytes }
}
