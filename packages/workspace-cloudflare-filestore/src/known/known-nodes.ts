import type { Growth, TreeNode, Usage } from '../tree/node.ts'

/** Nodes kept per namespace: at least this many of the most recent, at most twice as many. */
const KEPT_NODES = 1024

/**
 * What this isolate has observed of the tables, as of one version of them. Every change of a node
 * allocates another version, so one check of the version in the database validates all of it, and
 * nothing here is used without that check. A version that is rolled back in SQLite is never reused by
 * this isolate, so a host that rolls back the transaction around a write does no harm.
 */
export class KnownNodes {
  #version: number | undefined
  /** The highest version ever observed, also in a transaction that was rolled back. */
  #highest = 0
  readonly #namespaces = new Map<number, KnownNamespace>()

  /** Version of the tables when they were observed. Undefined: nothing is known. */
  get version(): number | undefined {
    return this.#version
  }

  /** The version of the next change to tables that have this one. */
  nextVersion(version: number): number {
    return Math.max(version, this.#highest) + 1
  }

  /** What the files of a namespace use. Undefined: not known. */
  usage(namespace: number): Usage | undefined {
    return this.#namespaces.get(namespace)?.usage
  }

  /** The node of a normalised path. Undefined: not known whether it exists. */
  node(namespace: number, path: string): TreeNode | undefined {
    return this.#namespaces.get(namespace)?.node(path)
  }

  /** The tables have this version: what was observed of another is forgotten. */
  observeVersion(version: number): void {
    if (this.#version === version) return
    this.forget()
    this.#version = version
    this.observeAllocated(version)
  }

  /** A version was allocated, by a change that is not observed here. */
  observeAllocated(version: number): void {
    this.#highest = Math.max(this.#highest, version)
  }

  observeUsage(namespace: number, usage: Usage): void {
    this.#of(namespace).usage = usage
  }

  observeNode(namespace: number, path: string, node: TreeNode): void {
    this.#of(namespace).keep(path, node)
  }

  /** A file was stored, and nothing else has changed since the version before. */
  observeChange(
    namespace: number,
    path: string,
    { node, growth }: { readonly node: TreeNode; readonly growth: Growth },
  ): void {
    const known = this.#of(namespace)
    const { usage } = known
    this.observeAllocated(node.version)
    if (usage === undefined) return this.forget()
    this.#version = node.version
    if (growth.bytes !== 0 || growth.files !== 0) {
      known.usage = {
        usedBytes: usage.usedBytes + growth.bytes,
        usedFiles: usage.usedFiles + growth.files,
      }
    }
    known.keep(path, node)
  }

  forget(): void {
    this.#version = undefined
    this.#namespaces.clear()
  }

  #of(namespace: number): KnownNamespace {
    let known = this.#namespaces.get(namespace)
    if (known === undefined) {
      known = new KnownNamespace()
      this.#namespaces.set(namespace, known)
    }
    return known
  }
}

/** Two generations of nodes, so that a lookup moves no node. */
class KnownNamespace {
  usage: Usage | undefined
  #nodes = new Map<string, TreeNode>()
  #earlier = new Map<string, TreeNode>()

  node(path: string): TreeNode | undefined {
    const recent = this.#nodes.get(path)
    if (recent !== undefined) return recent
    const node = this.#earlier.get(path)
    if (node !== undefined) this.keep(path, node)
    return node
  }

  keep(path: string, node: TreeNode): void {
    if (this.#nodes.size >= KEPT_NODES) {
      this.#earlier = this.#nodes
      this.#nodes = new Map()
    }
    this.#nodes.set(path, node)
  }
}
