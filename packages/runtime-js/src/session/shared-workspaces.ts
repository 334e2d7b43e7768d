import type { Clock, OpenWorkspace, UseOptions, WorkspaceAccess } from '@helix-agents/core'
import type { WorkspaceRef } from '@helix-agents/core/provider'
import type { PolicyRejection, WorkspaceMetrics } from '@helix-agents/core/runtime'

/** The workspaces of a sub-agent that shares those of its parent; the parent's name wins. */
export class SharedWorkspaces implements WorkspaceAccess {
  readonly #parent: WorkspaceAccess
  readonly #own: WorkspaceAccess

  constructor(parent: WorkspaceAccess, own: WorkspaceAccess) {
    this.#parent = parent
    this.#own = own
  }

  get clock(): Clock {
    return this.#own.clock
  }

  get metrics(): WorkspaceMetrics {
    return this.#own.metrics
  }

  has(name: string): boolean {
    return this.#parent.has(name) || this.#own.has(name)
  }

  providerId(name: string): string {
    return this.#owner(name).providerId(name)
  }

  use<T>(
    name: string,
    operation: (workspace: OpenWorkspace) => Promise<T>,
    options?: UseOptions,
  ): Promise<T> {
    return this.#owner(name).use(name, operation, options)
  }

  switchTo(name: string, ref: WorkspaceRef): Promise<void> {
    return this.#owner(name).switchTo(name, ref)
  }

  takeNotice(name: string): string | undefined {
    return this.#owner(name).takeNotice(name)
  }

  audit(name: string, rejection: PolicyRejection): void {
    this.#owner(name).audit(name, rejection)
  }

  #owner(name: string): WorkspaceAccess {
    return this.#parent.has(name) ? this.#parent : this.#own
  }
}
