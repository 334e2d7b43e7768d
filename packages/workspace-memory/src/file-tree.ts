import { FileSystemError } from '@helix-agents/core'
import { DirectoryNode, type TreeNode } from './nodes.ts'

/** Directories remembered by path; more than a workspace usually has. */
const MAX_REMEMBERED = 10_000

/** The nodes of a file system by normalised path. */
export class FileTree {
  readonly root = new DirectoryNode(0, 0)
  /** Saves the walk from the root; forgotten as a whole when a directory leaves its place. */
  readonly #directories = new Map<string, DirectoryNode>()

  /** The node of a path, or undefined. */
  find(path: string): TreeNode | undefined {
    if (path === '/') return this.root
    const slash = path.lastIndexOf('/')
    const name = path.slice(slash + 1)
    return this.#directory(slash === 0 ? '/' : path.slice(0, slash))?.children.get(name)
  }

  /**
   * The directory that holds a path, or undefined.
   * @throws {FileSystemError} `not-directory` when a file is in the way.
   */
  parent(path: string): DirectoryNode | undefined {
    const slash = path.lastIndexOf('/')
    const parent = slash === 0 ? '/' : path.slice(0, slash)
    const known = this.#directory(parent)
    if (known === undefined) this.#checkWay(path)
    return known
  }

  /**
   * The directory that is to hold a path, made with its parents where missing.
   * @throws {FileSystemError} `not-directory` when a file is in the way; nothing is made then.
   */
  makeParent(path: string, create: () => DirectoryNode): DirectoryNode {
    const known = this.parent(path)
    if (known !== undefined) return known
    let directory = this.root
    let start = 1
    for (let slash = path.indexOf('/', start); slash !== -1; slash = path.indexOf('/', start)) {
      const name = path.slice(start, slash)
      const child = directory.children.get(name)
      if (child instanceof DirectoryNode) directory = child
      else {
        const made = create()
        directory.add(name, made)
        directory = made
      }
      start = slash + 1
    }
    return directory
  }

  /** Takes a node out of its directory. */
  remove(path: string): void {
    const slash = path.lastIndexOf('/')
    const name = path.slice(slash + 1)
    const directory = this.parent(path)
    if (directory?.children.get(name) instanceof DirectoryNode) this.#directories.clear()
    directory?.remove(name)
  }

  /** Removes everything but the root. */
  clear(): void {
    this.root.clear()
    this.#directories.clear()
  }

  #directory(path: string): DirectoryNode | undefined {
    const known = this.#directories.get(path)
    if (known !== undefined) return known
    const node = this.#walk(path)
    if (!(node instanceof DirectoryNode)) return undefined
    if (this.#directories.size >= MAX_REMEMBERED) this.#directories.clear()
    this.#directories.set(path, node)
    return node
  }

  #walk(path: string): TreeNode | undefined {
    let node: TreeNode | undefined = this.root
    let start = 1
    while (start < path.length) {
      if (!(node instanceof DirectoryNode)) return undefined
      const slash = path.indexOf('/', start)
      const end = slash === -1 ? path.length : slash
      node = node.children.get(path.slice(start, end))
      start = end + 1
    }
    return node
  }

  /** Throws when a file stands where a directory is needed. */
  #checkWay(path: string): void {
    for (let slash = path.lastIndexOf('/'); slash > 0; slash = path.lastIndexOf('/', slash - 1)) {
      const node = this.#walk(path.slice(0, slash))
      if (node instanceof DirectoryNode) return
      if (node !== undefined) throw new FileSystemError('not-directory', path)
    }
  }
}
