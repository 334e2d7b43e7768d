import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import type { FaultSet } from '../faults/fault-set.ts'
import type { Image } from '../root/image.ts'
import type { ContainerLimits, Isolation } from '../root/mount-plan.ts'
import { createPrivateRoot, removeRoot } from '../root/private-root.ts'
import { Container } from './container.ts'
import { isContainerOf } from './container-name.ts'
import { Network } from './network.ts'
import type { PeerTest } from './own-peers.ts'
import { Sidecar } from './sidecar.ts'

const SIDECAR_SUFFIX = '-proxy'

/** What the containers of a test bed share. */
export interface StoreSettings {
  readonly isolation: Isolation
  readonly image: Image
  readonly limits: ContainerLimits
  readonly faults: FaultSet
  readonly serverVersion: string
  /** Whom sidecars serve. */
  readonly isOwnPeer: PeerTest
  /** Folder on the host for the disks of containers. */
  readonly directory: string
}

/** A sidecar of the engine's view: created, perhaps running. */
export interface SidecarRecord {
  readonly id: string
  readonly sidecar: Sidecar
  /** Port on the host; undefined before the start. */
  port?: number
}

/** The containers and sidecars of an engine, by name. */
export class ContainerStore {
  readonly settings: StoreSettings
  readonly containers = new Map<string, Container>()
  readonly sidecars = new Map<string, SidecarRecord>()
  readonly #removals = new Set<Promise<void>>()

  constructor(settings: StoreSettings) {
    this.settings = settings
  }

  /** The container of a sandbox id, whatever its state. */
  ofSandbox(sandbox: string): Container | undefined {
    return [...this.containers.values()].find(({ name }) => isContainerOf(name, sandbox))
  }

  /** Finds by name or id. */
  find(reference: string): Container | undefined {
    return this.containers.get(reference) ?? byId(this.containers, reference)
  }

  findSidecar(reference: string): SidecarRecord | undefined {
    return this.sidecars.get(reference) ?? byId(this.sidecars, reference)
  }

  isSidecarName(name: string): boolean {
    return name.endsWith(SIDECAR_SUFFIX)
  }

  create(name: string, env: readonly string[]): Container {
    const id = randomBytes(32).toString('hex')
    const { directory, image, limits } = this.settings
    const root = createPrivateRoot({ directory: join(directory, id.slice(0, 12)), image, limits })
    const container = new Container(this.settings, { name, id, root, env })
    this.containers.set(name, container)
    void container.exited.then(() =>
      this.sidecars.get(`${name}${SIDECAR_SUFFIX}`)?.sidecar.cutAll(),
    )
    return container
  }

  createSidecar(name: string): SidecarRecord {
    const app = name.slice(0, -SIDECAR_SUFFIX.length)
    const sidecar = new Sidecar({
      container: () => this.containers.get(app),
      network: () => new Network(this.settings.faults, app),
      isOwnPeer: this.settings.isOwnPeer,
    })
    const record = { id: randomBytes(32).toString('hex'), sidecar }
    this.sidecars.set(name, record)
    return record
  }

  /** Ends a container and wipes its disk. */
  async remove(container: Container): Promise<void> {
    this.containers.delete(container.name)
    if (container.state === 'running') {
      container.end(137)
      await container.exited
    }
    const removal = removeRoot(container.root)
    this.#removals.add(removal)
    await removal.finally(() => this.#removals.delete(removal))
    container.markRemoved()
  }

  async removeSidecar(name: string): Promise<void> {
    const record = this.sidecars.get(name)
    this.sidecars.delete(name)
    await record?.sidecar.stop()
  }

  /** Ends everything. */
  async clear(): Promise<void> {
    await Promise.all([...this.containers.values()].map((container) => this.remove(container)))
    await Promise.all([...this.sidecars.keys()].map((name) => this.removeSidecar(name)))
    await Promise.allSettled(this.#removals)
  }
}

function byId<Item extends { readonly id: string }>(
  items: ReadonlyMap<string, Item>,
  id: string,
): Item | undefined {
  return [...items.values()].find((item) => item.id === id)
}
