import type { TreeNode } from './node.ts'
import type { Growth } from './quota.ts'

/** Nodes of the latest so many paths of a namespace stay, and at most twice as many. */
const KEPT_NODES = 1024

/** What the files of a namespace use, all together. */
export interface Usage {
  readonly usedBytes: number
  readonly usedFiles: number
}

/**
 * What this isolate has seen of the tables, as of one version of them. Every change of a node makes
 * another version, so one look at the version in the database says whether all of this still holds:
 * nothing here is used without it, and a transaction that is rolled back around us does no harm: what
 * it takes back from the tables is never given again by this isolate.
 */
export class KnownNodes {
  #version: number | undefined
  /** The highest version that was ever seen, also in a transaction that was rolled back. */
  #highest = 0
  readonly #namespaces = new Map<number, KnownNamespace>()

  /** Of the tables when they were seen; undefined: nothing is known. */
  get version(): number | undefined {
    return this.#version
  }

  /** The version of the next change to tables that have this one. */
  versionAfter(version: number): number {
    return Math.max(version, this.#highest) + 1
  }

  /** What the files of a namespace use; undefined: not known. */
  usage(namespace: number): Usage | undefined {
    return this.#namespaces.get(namespace)?.usage
  }

  /** The node of a normalised path; undefined: it is not known whether there is one. */
  node(namespace: number, path: string): TreeNode | undefined {
    return this.#namespaces.get(namespace)?.node(path)
  }

  /** The tables have this version: what was seen of another is forgotten. */
  seeVersion(version: number): void {
    if (this.#version === version) return
    this.forget()
    this.#version = version
    this.giveVersion(version)
  }

  /** A version was given, by a change that is not told here. */
  giveVersion(version: number): void {
    this.#highest = Math.max(this.#highest, version)
  }

  seeUsage(namespace: number, usage: Usage): void {
    this.#of(namespace).usage = usage
  }

  seeNode(namespace: number, path: string, node: TreeNode): void {
    this.#of(namespace).keep(path, node)
  }

  /** A file was stored, and nothing else changed since the version before. */
  seeChange(
    namespace: number,
    path: string,
    { node, growth }: { readonly node: TreeNode; readonly growth: Growth },
  ): void {
    const known = this.#of(namespace)
    const { usage } = known
    this.giveVersion(node.version)
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

/** Two generations of nodes: no node has to be moved at every look. */
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
