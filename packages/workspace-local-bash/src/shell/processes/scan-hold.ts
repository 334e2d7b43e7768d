import type { ProcessHold } from './process-hold.ts'
import { endTree, mayHaveLeftovers, type TreeScope } from './process-tree.ts'

/** Finds the processes of a command among those of the host: see `findMembers`. */
export class ScanHold implements ProcessHold {
  readonly #scope: TreeScope

  constructor(scope: TreeScope) {
    this.#scope = scope
  }

  async end(graceMs: number): Promise<void> {
    await endTree(this.#scope, graceMs)
  }

  async endLeftovers(durationMs: number): Promise<void> {
    if (this.#scope.leader === undefined) return
    if (await mayHaveLeftovers(this.#scope, durationMs)) await endTree(this.#scope, 0)
  }
}
