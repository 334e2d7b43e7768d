import { createTimeSlice } from '@helix-agents/core/provider'
import { DirectoryNode, FileNode } from './nodes.ts'

/** What the nodes of a copy get. */
export interface CloneStamp {
  nextVersion(): number
  readonly modifiedMs: number
}

/** Nodes between two looks at the clock. */
const NODES_PER_LOOK = 64
/** Looks that are a slice of time where the clock stands still. */
const LOOKS_WITHOUT_CLOCK = 64

/** A copy of a file that shares its content. */
export function cloneFile(file: FileNode, stamp: CloneStamp): FileNode {
  return new FileNode(file.content, file.size, stamp.nextVersion(), stamp.modifiedMs)
}

/**
 * A copy of a directory that shares the contents. Lets others run in a large one: what they change
 * meanwhile may or may not be in the copy.
 */
export async function cloneDirectory(
  source: DirectoryNode,
  stamp: CloneStamp,
): Promise<DirectoryNode> {
  const newDirectory = (): DirectoryNode => new DirectoryNode(stamp.nextVersion(), stamp.modifiedMs)
  const slice = createTimeSlice(undefined, LOOKS_WITHOUT_CLOCK)
  const root = newDirectory()
  const open = [{ source, copy: root }]
  let nodes = 0
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    for (const [name, child] of next.source.children) {
      if (child instanceof FileNode) next.copy.children.set(name, cloneFile(child, stamp))
      else {
        const copy = newDirectory()
        next.copy.children.set(name, copy)
        open.push({ source: child, copy })
      }
      nodes += 1
      if (nodes % NODES_PER_LOOK === 0 && slice.due) await slice.pause()
    }
  }
  return root
}
