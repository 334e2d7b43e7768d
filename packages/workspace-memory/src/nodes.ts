import {
  compareCodePoints,
  joinPath,
  type SubtreeExtent,
  utf8Length,
} from '@helix-agents/core/provider'

/** Content as it came: text stays a string while that is the smaller form. Never changed in place. */
export type Content = string | Uint8Array

/** One file. Fields are small integers where possible: a tree may hold 100,000 of these. */
export class FileNode {
  content: Content
  /** Bytes of the content in UTF-8. */
  size: number
  version: number
  /** Milliseconds since the file system was made. */
  modifiedMs: number
  /** Whether the content holds a NUL; undefined until a search has checked. */
  binary: boolean | undefined = undefined
  /** The epoch of the tree that may change this node; see {@link FileTree.freeze}. */
  epoch = 0

  constructor(content: Content, size: number, version: number, modifiedMs: number) {
    this.content = content
    this.size = size
    this.version = version
    this.modifiedMs = modifiedMs
  }

  replace(content: Content, size: number, version: number, modifiedMs: number): void {
    this.content = content
    this.size = size
    this.version = version
    this.modifiedMs = modifiedMs
    this.binary = undefined
  }

  copy(): FileNode {
    return new FileNode(this.content, this.size, this.version, this.modifiedMs)
  }
}

/** Children in the order in which a walk gives sorted paths. */
export interface WalkList {
  readonly paths: readonly string[]
  readonly nodes: readonly TreeNode[]
}

export class DirectoryNode {
  readonly children: Map<string, TreeNode>
  version: number
  modifiedMs: number
  /** The epoch of the tree that may change this node; see {@link FileTree.freeze}. */
  epoch = 0
  #names: readonly string[] | undefined
  #walk: (WalkList & { readonly path: string }) | undefined

  constructor(version: number, modifiedMs: number, children?: ReadonlyMap<string, TreeNode>) {
    this.version = version
    this.modifiedMs = modifiedMs
    this.children = new Map(children)
  }

  /** A copy of the directory itself: the children are shared. */
  copy(): DirectoryNode {
    return new DirectoryNode(this.version, this.modifiedMs, this.children)
  }

  /** Puts another node in the place of a child. */
  replace(name: string, node: TreeNode): void {
    this.children.set(name, node)
    this.#walk = undefined
  }

  add(name: string, node: TreeNode): void {
    this.children.set(name, node)
    this.#names = undefined
    this.#walk = undefined
  }

  remove(name: string): void {
    this.children.delete(name)
    this.#names = undefined
    this.#walk = undefined
  }

  clear(): void {
    this.children.clear()
    this.#names = undefined
    this.#walk = undefined
  }

  /** Sorted by code point; computed once for each change of the names. */
  names(): readonly string[] {
    return (this.#names ??= sortNames([...this.children.keys()]))
  }

  /** Depends on the own path, which changes when a directory above is moved. */
  walk(path: string): WalkList {
    if (this.#walk?.path === path) return this.#walk
    const order = this.#walkOrder()
    this.#walk = {
      path,
      paths: order.map((name) => joinPath(path, name)),
      nodes: this.#nodes(order),
    }
    return this.#walk
  }

  /** Paths sort as if a directory were named `name/`: `a-b` comes before `a/c`. */
  #walkOrder(): readonly string[] {
    const directories = new Set<string>()
    for (const [name, node] of this.children)
      if (node instanceof DirectoryNode) directories.add(name)
    if (directories.size === 0) return this.names()
    const keys = sortNames(
      [...this.children.keys()].map((name) => (directories.has(name) ? `${name}/` : name)),
    )
    return keys.map((key) => (key.endsWith('/') ? key.slice(0, -1) : key))
  }

  #nodes(order: readonly string[]): TreeNode[] {
    const nodes: TreeNode[] = []
    for (const name of order) {
      const node = this.children.get(name)
      if (node !== undefined) nodes.push(node)
    }
    return nodes
  }
}

export type TreeNode = FileNode | DirectoryNode

/** Bytes of all files in a subtree. */
export function subtreeBytes(node: TreeNode): number {
  if (node instanceof FileNode) return node.size
  let bytes = 0
  for (const child of node.children.values()) bytes += subtreeBytes(child)
  return bytes
}

/** How deep and how long the paths below a directory are. */
export function extentOf(directory: DirectoryNode): SubtreeExtent {
  let [depth, bytes] = [0, 0]
  for (const [name, child] of directory.children) {
    const below = child instanceof FileNode ? { depth: 0, bytes: 0 } : extentOf(child)
    depth = Math.max(depth, below.depth + 1)
    bytes = Math.max(bytes, below.bytes + utf8Length(name) + 1)
  }
  return { depth, bytes }
}

const SURROGATE = /[\uD800-\uDFFF]/

/** The engine's own order, by UTF-16 units, is faster; it differs only with surrogate pairs. */
function sortNames(names: readonly string[]): string[] {
  const isPlain = !names.some((name) => SURROGATE.test(name))
  return isPlain ? names.toSorted() : names.toSorted(compareCodePoints)
}
