import { FleetError } from '@helix-agents/core/runtime'
import type {
  FleetDriver,
  ListedSandbox,
  SandboxListing,
  SandboxProbe,
  SandboxResources,
  SandboxTarget,
} from '../driver/fleet-driver.ts'

/** What is known of one directory. */
export interface DirectoryInspection {
  readonly name: string
  readonly state: 'present' | 'absent' | 'unknown'
  readonly ownerAlive?: boolean
  readonly isDetached?: boolean
  readonly sinceMs?: number
}

/** What of the directories of a host is used. `LocalBashInventory` of workspace-local-bash fits. */
export interface DirectoryInventory {
  list(): readonly DirectoryInspection[]
  inspect(name: string): DirectoryInspection
  resources(name: string): Promise<SandboxResources>
  end(name: string): Promise<void>
  /** The ends of outputs that are on disk. Absent where that is not supported. */
  logs?(name: string): string
}

/** Options of `LocalBashFleetDriver`. */
export interface LocalBashFleetDriverOptions {
  /** The directories of one `tmpdirRoot`; a `LocalBashInventory` fits. */
  readonly inventory: DirectoryInventory
  /**
   * Label of what lies in the directory of the inventory, for one that this deployment has for
   * itself. Without it, directories that the ledger does not know are never ended: a directory
   * says whose it is, not which deployment it belongs to.
   */
  readonly environment?: string
  /** Key of its sandboxes in the ledger. Default `local-bash`. */
  readonly provider?: string
}

/** Workspace directories of this host, with their processes. Knows whether their owners run. */
export class LocalBashFleetDriver implements FleetDriver {
  readonly provider: string
  readonly #environment: string | undefined
  readonly #inventory: DirectoryInventory

  constructor(options: LocalBashFleetDriverOptions) {
    this.provider = options.provider ?? 'local-bash'
    this.#environment = options.environment
    this.#inventory = options.inventory
  }

  async list(): Promise<SandboxListing> {
    const all = this.#inventory.list()
    const present = all.filter(({ state }) => state === 'present')
    return { isComplete: true, sandboxes: present.map((one) => this.#toListed(one)) }
  }

  async inspect({ id }: SandboxTarget): Promise<SandboxProbe> {
    const { isDetached, ownerAlive, state } = this.#inventory.inspect(id)
    if (state === 'absent') return { state: 'absent' }
    if (state === 'unknown') return { state: 'unknown', detail: 'no valid marker of this user' }
    // An owner in another container cannot be seen from here.
    if (ownerAlive === undefined) return { state: 'unknown', detail: 'its owner is elsewhere' }
    return { state: 'running', ownerAlive, ...(isDetached === true && { isDetached }) }
  }

  terminate({ id }: SandboxTarget): Promise<void> {
    return this.#inventory.end(id)
  }

  /** Of background processes, and of commands that wrote a lot: others leave nothing on disk. */
  async logs({ id }: SandboxTarget): Promise<string> {
    const text = this.#inventory.logs?.(id)
    if (text !== undefined) return text
    throw new FleetError('not-supported', 'this inventory does not support logs', { sandboxId: id })
  }

  resources({ id }: SandboxTarget): Promise<SandboxResources> {
    return this.#inventory.resources(id)
  }

  #toListed({ isDetached, name, ownerAlive, sinceMs }: DirectoryInspection): ListedSandbox {
    return {
      id: name,
      // One whose owner cannot be seen may be in use.
      ownerAlive: ownerAlive ?? true,
      ...(this.#environment !== undefined && { environment: this.#environment }),
      ...(isDetached === true && { isDetached }),
      ...(sinceMs !== undefined && { createdAt: sinceMs }),
    }
  }
}
