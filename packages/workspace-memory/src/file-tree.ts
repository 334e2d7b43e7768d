import { FileSystemError } from '@helix-agents/core'
import { baseName, parentPath } from '@helix-agents/core/provider'
import { DirectoryNode, type TreeNode } from './nodes.ts'

/** Directories remembered by path; more than a workspace usually has. */
const MAX_REMEMBERED = 10_000

/** Counts the epochs of all trees: no tree takes the nodes of another one for its own. */
let lastEpoch = 0

/**
 * The nodes of a file system by normalised path. Nodes of an earlier epoch may be shared with frozen
 * trees: a change replaces them, and the directories above, by copies.
 */
export class FileTree {
  #root: DirectoryNode
  #epoch = ++lastEpoch
  /** Saves the walk from the root; forgotten as a whole when a directory leaves its place. */
  readonly #directories = new Map<string, DirectoryNode>()

  /** @param root a frozen tree; it stays as it is. Default: an empty one. */
  constructor(root: DirectoryNode = new DirectoryNode(0, 0)) {
    this.#root = root
  }

  get root(): DirectoryNode {
    return this.#root
  }

  /** The tree as it is now, in constant time. Later changes do not reach it. */
  freeze(): DirectoryNode {
    this.#epoch = ++lastEpoch
    return this.#root
  }

  /** Whether a node may be changed in place. */
  owns(node: TreeNode): boolean {
    return node.epoch === this.#epoch
  }

  /** The node of a path, or undefined. */
  find(path: string): TreeNode | undefined {
    if (path === '/') return this.#root
    const slash = path.lastIndexOf('/')
    const name = path.slice(slash + 1)
    return this.#directory(slash === 0 ? '/' : path.slice(0, slash))?.children.get(name)
  }

  /**
   * The directory that holds a path, to be changed, or undefined.
   * @throws {FileSystemError} `not-directory` when a file is in the way.
   */
  parent(path: string): DirectoryNode | undefined {
    const parent = parentPath(path)
    const known = this.#directory(parent)
    if (known !== undefined) return this.#own(parent, known)
    this.#checkWay(path)
    return undefined
  }

  /**
   * The directory that is to hold a path, made with its parents where missing.
   * @throws {FileSystemError} `not-directory` when a file is in the way; nothing is made then.
   */
  makeParent(path: string, create: () => DirectoryNode): DirectoryNode {
    const known = this.parent(path)
    if (known !== undefined) return known
    let directory = this.#own('/', this.#root)
    let start = 1
    for (let slash = path.indexOf('/', start); slash !== -1; slash = path.indexOf('/', start)) {
      const name = path.slice(start, slash)
      const child = directory.children.get(name)
      if (child instanceof DirectoryNode) directory = this.#own(path.slice(0, slash), child)
      else {
        const made = create()
        made.epoch = this.#epoch
        directory.add(name, made)
        directory = made
      }
      start = slash + 1
    }
    return directory
  }

  /** Adds a node whose parents are there or are made. It belongs to the tree from then on. */
  put(path: string, node: TreeNode, create: () => DirectoryNode): void {
    const parent = this.makeParent(path, create)
    node.epoch = this.#epoch
    const name = baseName(path)
    if (parent.children.has(name)) parent.replace(name, node)
    else parent.add(name, node)
  }

  /** Takes a node out of its directory. */
  remove(path: string): void {
    const directory = this.parent(path)
    const name = baseName(path)
    if (directory?.children.get(name) instanceof DirectoryNode) this.#directories.clear()
    directory?.remove(name)
  }

  /** Removes everything but the root. */
  clear(): void {
    this.#own('/', this.#root).clear()
    this.#directories.clear()
  }

  /** The directory of a path, or a copy that takes its place. */
  #own(path: string, directory: DirectoryNode): DirectoryNode {
    if (directory.epoch === this.#epoch) return directory
    const copy = directory.copy()
    copy.epoch = this.#epoch
    if (path === '/') this.#root = copy
    else this.parent(path)?.replace(baseName(path), copy)
    this.#remember(path, copy)
    return copy
  }

  #directory(path: string): DirectoryNode | undefined {
    const known = this.#directories.get(path)
    if (known !== undefined) return known
    const node = this.#walk(path)
    if (!(node instanceof DirectoryNode)) return undefined
    this.#remember(path, node)
    return node
  }

  #remember(path: string, directory: DirectoryNode): void {
    if (this.#directories.size >= MAX_REMEMBERED) this.#directories.clear()
    this.#directories.set(path, directory)
  }

  #walk(path: string): TreeNode | undefined {
    let node: TreeNode | undefined = this.#root
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
